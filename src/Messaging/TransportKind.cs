namespace Billing.Messaging;

/// <summary>How commands travel from a proxy to the backends.</summary>
public enum TransportKind
{
    /// <summary>Through topics, the default: backends share out the accounts among themselves.</summary>
    Kafka,

    /// <summary>By calls from the proxy to the backend that serves the account.</summary>
    Direct,
}
