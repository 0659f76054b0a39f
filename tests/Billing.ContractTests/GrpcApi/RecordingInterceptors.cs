using System.Collections.Concurrent;
using Grpc.Core;
using Grpc.Core.Interceptors;

namespace Billing.ContractTests.GrpcApi;

public sealed class RecordingServerInterceptor : Interceptor
{
    public ConcurrentQueue<string> Calls { get; } = [];

    public override Task<TResponse> UnaryServerHandler<TRequest, TResponse>(
        TRequest request, ServerCallContext context, UnaryServerMethod<TRequest, TResponse> continuation)
    {
        Record("unary", context);
        return continuation(request, context);
    }

    public override Task<TResponse> ClientStreamingServerHandler<TRequest, TResponse>(
        IAsyncStreamReader<TRequest> requestStream,
        ServerCallContext context,
        ClientStreamingServerMethod<TRequest, TResponse> continuation)
    {
        Record("client stream", context);
        return continuation(requestStream, context);
    }

    public override Task ServerStreamingServerHandler<TRequest, TResponse>(
        TRequest request,
        IServerStreamWriter<TResponse> responseStream,
        ServerCallContext context,
        ServerStreamingServerMethod<TRequest, TResponse> continuation)
    {
        Record("server stream", context);
        return continuation(request, responseStream, context);
    }

    public override Task DuplexStreamingServerHandler<TRequest, TResponse>(
        IAsyncStreamReader<TRequest> requestStream,
        IServerStreamWriter<TResponse> responseStream,
        ServerCallContext context,
        DuplexStreamingServerMethod<TRequest, TResponse> continuation)
    {
        Record("duplex", context);
        return continuation(requestStream, responseStream, context);
    }

    private void Record(string shape, ServerCallContext context)
    {
        if (context.RequestHeaders.GetValue("x-record") is not { } id)
        {
            return;
        }

        context.UserState["id"] = id;
        Calls.Enqueue($"{context.UserState["id"]}: {shape} {context.Method}");
    }
}

public sealed class RecordingClientInterceptor(string name, List<string> calls) : Interceptor
{
    public override TResponse BlockingUnaryCall<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        BlockingUnaryCallContinuation<TRequest, TResponse> continuation)
    {
        calls.Add($"{name}: blocking {context.Method.Name}");
        return continuation(request, context);
    }

    public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncUnaryCallContinuation<TRequest, TResponse> continuation)
    {
        calls.Add($"{name}: unary {context.Method.Name}");
        var headers = new Metadata { { "x-echo-by", name } };
        var call = continuation(request, new(context.Method, context.Host, context.Options.WithHeaders(headers)));
        return new AsyncUnaryCall<TResponse>(
            call.ResponseAsync, call.ResponseHeadersAsync, call.GetStatus, call.GetTrailers, call.Dispose);
    }

    public override AsyncServerStreamingCall<TResponse> AsyncServerStreamingCall<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncServerStreamingCallContinuation<TRequest, TResponse> continuation)
    {
        calls.Add($"{name}: server stream {context.Method.Name}");
        return continuation(request, context);
    }

    public override AsyncClientStreamingCall<TRequest, TResponse> AsyncClientStreamingCall<TRequest, TResponse>(
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncClientStreamingCallContinuation<TRequest, TResponse> continuation)
    {
        calls.Add($"{name}: client stream {context.Method.Name}");
        return continuation(context);
    }

    public override AsyncDuplexStreamingCall<TRequest, TResponse> AsyncDuplexStreamingCall<TRequest, TResponse>(
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncDuplexStreamingCallContinuation<TRequest, TResponse> continuation)
    {
        calls.Add($"{name}: duplex {context.Method.Name}");
        return continuation(context);
    }
}
