namespace Billing.ContractTests.MartenApi;

public sealed record PaymentAccepted(string Payment, decimal Amount);

public sealed record PaymentDeclined(string Payment, Reason Reason);

public sealed record LimitChangedV2(decimal Limit, string Currency);

public enum Reason
{
    Limit,
    Currency,
}

public sealed class CardAccount
{
}

public sealed class Receipt
{
    public string Id { get; set; } = "";

    public string Answer { get; set; } = "";
}

public sealed class Snapshot
{
    public Guid Id { get; set; }

    public decimal Balance { get; set; }
}

public sealed class Counter
{
    public long Id { get; set; }

    public int Value { get; set; }
}
