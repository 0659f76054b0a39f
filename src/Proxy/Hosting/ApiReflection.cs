using Google.Rpc;
using Grpc.Reflection;
using ServiceDescriptor = Google.Protobuf.Reflection.ServiceDescriptor;

namespace Billing.Proxy.Hosting;

/// <summary>What server reflection tells callers' tools: the services, and the messages in the details of errors. No
/// service names those messages, so the library alone does not know them, and grpcurl could not print the details.
/// </summary>
internal static class ApiReflection
{
    private static readonly ServiceDescriptor[] Services =
    [
        .. ProxyServices.PublicServices, Grpc.Health.V1.Health.Descriptor,
        Grpc.Reflection.V1.ServerReflection.Descriptor, Grpc.Reflection.V1Alpha.ServerReflection.Descriptor,
    ];

    /// <summary>Adds reflection.</summary>
    public static void AddApiReflection(this IServiceCollection services)
    {
        var names = Services.Select(service => service.FullName).ToList();
        var symbols = SymbolRegistry.FromFiles(
        [
            .. Services.Select(service => service.File), StatusReflection.Descriptor, ErrorDetailsReflection.Descriptor,
        ]);
        // After the library's, to be taken instead of its own.
        services.AddGrpcReflection()
            .AddSingleton(new ReflectionServiceImpl(names, symbols))
            .AddSingleton(new ReflectionV1ServiceImpl(names, symbols));
    }
}
