namespace Billing.ContractTests.MartenApi;

public sealed record PaymentAccepted(string Payment, decimal Amount);

public sealed record PaymentDeclined(string Payment, Reason Reason);

public sealed record LimitChangedV2(decimal Limit, string Currency);

public enum Reason
{
    Limit,
    Currency,
}
