namespace Billing.Messaging.Kafka.Clients;

/// <summary>Names of the consumer groups of the request topics.</summary>
public static class Groups
{
    /// <summary>The group of the payment backends.</summary>
    public const string Payments = "billing-payments";

    /// <summary>The group of the balance backends.</summary>
    public const string Balances = "billing-balances";
}
