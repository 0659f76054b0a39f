using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>The most entries that one page of a statement may have.</summary>
    internal const int StatementEntriesMax = 1000;

    /// <summary>A page of a statement.</summary>
    public static RequestKind<StatementPageRequest, StatementPage> Statement { get; } = new()
    {
        Check = CheckPage,
        KnownFields = request => request.Clone(),
        AccountOf = request => (request.PaymentType, request.AccountId),
        RequestIn = command => command.Statement,
        WriteTo = (command, request) => command.Statement = request,
        AnswerIn = reply => reply.Statement,
        // A page without entries that is not the last would make the proxy request the same page forever.
        ProblemOf = (request, page) => (page.HasMore && page.Entries.Count == 0) || page.Entries.Count > request.Limit
            ? $"an invalid page of a statement: {page.Entries.Count} entries for a limit of {request.Limit}"
            : null,
    };

    private static FieldViolation? CheckPage(StatementPageRequest request) =>
        FieldRules.Check(new GetStatementRequest { AccountId = request.AccountId, PaymentType = request.PaymentType, AfterVersion = request.AfterVersion })
        ?? (request.Limit is < 1 or > StatementEntriesMax
            ? new FieldViolation("limit", string.Create(CultureInfo.InvariantCulture, $"must be between 1 and {StatementEntriesMax}; it is {request.Limit}"))
            : null)
        ?? (request.Opening is { } opening && (opening.Version != request.AfterVersion || opening.Balance is null || opening.CreditLimit is null)
            ? new FieldViolation("opening", "must be the account as of after_version")
            : null);
}
