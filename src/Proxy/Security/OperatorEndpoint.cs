namespace Billing.Proxy.Security;

/// <summary>Marks an endpoint that is for those who operate the platform, not for its callers.</summary>
public sealed class OperatorEndpoint
{
    /// <summary>The mark.</summary>
    public static OperatorEndpoint Instance { get; } = new();
}

/// <summary>Marks endpoints.</summary>
public static class OperatorEndpoints
{
    /// <summary>Keeps an endpoint to operators.</summary>
    public static TBuilder ForOperators<TBuilder>(this TBuilder endpoint)
        where TBuilder : IEndpointConventionBuilder
    {
        endpoint.Add(builder => builder.Metadata.Add(OperatorEndpoint.Instance));
        return endpoint;
    }
}
