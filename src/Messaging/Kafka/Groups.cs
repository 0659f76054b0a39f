namespace Billing.Messaging.Kafka;

/// <summary>Names of the consumer groups that share the request topics out.</summary>
public static class Groups
{
    /// <summary>The payment backends.</summary>
    public const string Payments = "billing-payments";

    /// <summary>The balance backends.</summary>
    public const string Balances = "billing-balances";
}
