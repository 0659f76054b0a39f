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

    /// <summary>All of them.</summary>
    public static IEnumerable<MethodDescriptor> All =>
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

    /// <summary>Calls a method of any type with one message.</summary>
    /// <returns>Its answers.</returns>
    /// <exception cref="RpcException">The call failed.</exception>
    public static async Task<List<IMessage>> CallAsync(
        CallInvoker invoker, string name, IMessage request, Metadata headers)
    {
        var method = Of(name);
        var type = (method.IsClientStreaming, method.IsServerStreaming) switch
        {
            (false, false) => MethodType.Unary,
            (false, true) => MethodType.ServerStreaming,
            (true, true) => MethodType.DuplexStreaming,
            _ => throw new NotSupportedException(name),
        };
        var called = new Method<byte[], byte[]>(type, method.Service.FullName, method.Name, Bytes, Bytes);
        var (options, message) = (new CallOptions(headers), request.ToByteArray());
        if (type == MethodType.Unary)
        {
            return [method.OutputType.Parser.ParseFrom(
                await invoker.AsyncUnaryCall(called, null, options, message))];
        }
        if (type == MethodType.ServerStreaming)
        {
            using var reading = invoker.AsyncServerStreamingCall(called, null, options, message);
            return await ReadAsync(method, reading.ResponseStream);
        }
        using var talking = invoker.AsyncDuplexStreamingCall(called, null, options);
        try
        {
            await talking.RequestStream.WriteAsync(message);
            await talking.RequestStream.CompleteAsync();
        }
        catch (Exception e) when (e is RpcException or InvalidOperationException)
        {
            // The call has been refused already: the answer says why.
        }
        return await ReadAsync(method, talking.ResponseStream);
    }

    private static async Task<List<IMessage>> ReadAsync(MethodDescriptor method, IAsyncStreamReader<byte[]> answers)
    {
        var read = new List<IMessage>();
        await foreach (var answer in answers.ReadAllAsync())
        {
            read.Add(method.OutputType.Parser.ParseFrom(answer));
        }
        return read;
    }
}
