namespace Billing.Proxy.Security;

/// <summary>Marks an endpoint that is for the platform's operators, not for its callers.</summary>
public sealed class OperatorEndpoint
{
    /// <summary>The only instance.</summary>
    public static OperatorEndpoint Instance { get; } = new();
}

/// <summary>Marks endpoints as being for operators.</summary>
public static class OperatorEndpoints
{
    /// <summary>Marks an endpoint as being for operators: <see cref="ListenerGate"/> serves it only at the admin addresses.</summary>
    public static TBuilder ForOperators<TBuilder>(this TBuilder endpoint)
        where TBuilder : IEndpointConventionBuilder
    {
        endpoint.Add(builder => builder.Metadata.Add(OperatorEndpoint.Instance));
        return endpoint;
    }
}
