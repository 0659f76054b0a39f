namespace Billing.Proxy.Failures;

/// <summary>The endpoints of gRPC, by which a call is told from a request of REST. What a caller says of it, such as
/// its content type, decides nothing.</summary>
internal static class GrpcEndpoints
{
    private static readonly GrpcEndpoint Mark = new();

    /// <summary>Marks endpoints as those of gRPC, also those that answer for methods that are not there.</summary>
    public static TBuilder AsGrpc<TBuilder>(this TBuilder endpoints)
        where TBuilder : IEndpointConventionBuilder => endpoints.WithMetadata(Mark);

    /// <summary>Whether a request was routed to an endpoint of gRPC.</summary>
    public static bool IsGrpc(HttpContext http) =>
        http.GetEndpoint()?.Metadata.GetMetadata<GrpcEndpoint>() is not null;

    /// <summary>Whether a request that is not routed yet says that it is a call of gRPC.</summary>
    public static bool LooksLikeGrpc(HttpRequest request) =>
        HttpMethods.IsPost(request.Method) && HttpProtocol.IsHttp2(request.Protocol)
        && request.ContentType?.StartsWith("application/grpc", StringComparison.OrdinalIgnoreCase) == true;
}

/// <summary>Marks an endpoint of gRPC.</summary>
internal sealed class GrpcEndpoint;
