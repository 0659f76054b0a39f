namespace Billing.Messaging;

/// <summary>How a proxy sends commands to the backends.</summary>
public enum TransportKind
{
    /// <summary>Through Kafka topics, the default: consumer groups distribute the accounts among the backends.</summary>
    Kafka,

    /// <summary>By gRPC calls from the proxy to the backend that serves the account.</summary>
    Direct,
}
