namespace Billing.Messaging.Kafka.Clients;

/// <summary>Names of the consumer groups.</summary>
public static class Groups
{
    /// <summary>The group of the payment backends.</summary>
    public const string Payments = "billing-payments";

    /// <summary>The group of the balance backends.</summary>
    public const string Balances = "billing-balances";

    /// <summary>The group of the services that send events to receivers.</summary>
    public const string Webhooks = "billing-webhooks";
}
