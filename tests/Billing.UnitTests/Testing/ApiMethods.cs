using Billing.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Grpc.Core;

namespace Billing.UnitTests.Testing;

/// <summary>The methods of the public API, for tests of what holds for each of them.</summary>
internal static class ApiMethods
{
    private static readonly Marshaller<byte[]> Bytes = Marshallers.Create<byte[]>(bytes => bytes, bytes => bytes);

    /// <summary>The names of the methods that take one message and answer with one.</summary>
    public static TheoryData<string> Unary =>
        [.. All.Where(method => !method.IsClientStreaming && !method.IsServerStreaming).Select(method => method.Name)];

    private static IEnumerable<MethodDescriptor> All =>
        BillingReflection.Descriptor.Services.SelectMany(service => service.Methods);

    /// <summary>The method of a name.</summary>
    public static MethodDescriptor Of(string name) => All.Single(method => method.Name == name);

    /// <summary>Calls a method.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static async Task<IMessage> CallAsync(CallInvoker invoker, string name, IMessage request)
    {
        var method = Of(name);
        var answer = await invoker.AsyncUnaryCall(
            new Method<byte[], byte[]>(MethodType.Unary, method.Service.FullName, method.Name, Bytes, Bytes),
            null, new CallOptions(), request.ToByteArray());
        return method.OutputType.Parser.ParseFrom(answer);
    }
}
