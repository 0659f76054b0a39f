using Billing.Messaging.Requests;
using Grpc.AspNetCore.Server;
using Microsoft.AspNetCore.Authorization;
using ServiceDescriptor = Google.Protobuf.Reflection.ServiceDescriptor;

namespace Billing.Proxy.Calls;

/// <summary>The scopes that gRPC methods need.</summary>
internal static class GrpcScopes
{
    /// <summary>Requires for each method of a service the scope of the kind of request that it takes.</summary>
    /// <exception cref="ArgumentException">A method takes what has no kind.</exception>
    public static GrpcServiceEndpointConventionBuilder NeedScopes(
        this GrpcServiceEndpointConventionBuilder methods, ServiceDescriptor service)
    {
        methods.Add(endpoint =>
        {
            if (endpoint.Metadata.OfType<GrpcMethodMetadata>().SingleOrDefault() is { Method: var method })
            {
                var request = service.FindMethodByName(method.Name).InputType;
                endpoint.Metadata.Add(new AuthorizeAttribute(RequestKinds.OfCallers(request).Scope!));
            }
        });
        return methods;
    }
}
