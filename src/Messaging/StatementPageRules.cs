using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>The rules of wire.proto for a page of a statement.</summary>
public static class StatementPageRules
{
    /// <summary>The most entries that one page of a statement may have.</summary>
    public const int EntriesMax = 1000;

    /// <summary>The first rule that a request for a page of a statement breaks, or null.</summary>
    public static FieldViolation? Check(StatementPageRequest request) =>
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
}
