using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

/// <summary>A page of a statement.</summary>
public sealed class StatementKind : RequestKind<StatementPageRequest, StatementPage>
{
    /// <summary>The most entries that one page may have.</summary>
    public const int EntriesMax = 1000;

    /// <inheritdoc/>
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Statement;

    /// <inheritdoc/>
    public override bool IsWrite => false;

    /// <inheritdoc/>
    public override FieldViolation? Check(StatementPageRequest request) =>
        FieldRules.Check(new GetStatementRequest
        {
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            AfterVersion = request.AfterVersion,
        })
        ?? (request.Limit is < 1 or > EntriesMax
            ? new FieldViolation("limit", string.Create(CultureInfo.InvariantCulture, $"must be between 1 and {EntriesMax}; it is {request.Limit}"))
            : null)
        ?? (request.Opening is { } opening && (opening.Version != request.AfterVersion || opening.Balance is null || opening.CreditLimit is null)
            ? new FieldViolation("opening", "must be the account as of after_version")
            : null);

    /// <inheritdoc/>
    public override StatementPageRequest KnownFields(StatementPageRequest request) => request.Clone();

    /// <inheritdoc/>
    public override (PaymentType Type, string Id) AccountOf(StatementPageRequest request) => (request.PaymentType, request.AccountId);

    /// <inheritdoc/>
    public override StatementPage? AnswerIn(Reply reply) => reply.Statement;

    /// <inheritdoc/>
    /// <remarks>A page without entries that is not the last would make the proxy request the same page forever.</remarks>
    public override string? ProblemOf(StatementPageRequest request, StatementPage answer) =>
        (answer.HasMore && answer.Entries.Count == 0) || answer.Entries.Count > request.Limit
            ? $"an invalid page of a statement: {answer.Entries.Count} entries for a limit of {request.Limit}"
            : null;

    /// <inheritdoc/>
    protected override StatementPageRequest RequestIn(Command command) => command.Statement;

    /// <inheritdoc/>
    protected override void Write(Command command, StatementPageRequest request) => command.Statement = request;
}
