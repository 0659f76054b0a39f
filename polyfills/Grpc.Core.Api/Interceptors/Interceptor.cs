namespace Grpc.Core.Interceptors;

/// <summary>Every call shape of both sides, each passed on untouched unless overridden.</summary>
public abstract class Interceptor
{
    public delegate TResponse BlockingUnaryCallContinuation<TRequest, TResponse>(
        TRequest request, ClientInterceptorContext<TRequest, TResponse> context)
        where TRequest : class
        where TResponse : class;

    public delegate AsyncUnaryCall<TResponse> AsyncUnaryCallContinuation<TRequest, TResponse>(
        TRequest request, ClientInterceptorContext<TRequest, TResponse> context)
        where TRequest : class
        where TResponse : class;

    public delegate AsyncServerStreamingCall<TResponse> AsyncServerStreamingCallContinuation<TRequest, TResponse>(
        TRequest request, ClientInterceptorContext<TRequest, TResponse> context)
        where TRequest : class
        where TResponse : class;

    public delegate AsyncClientStreamingCall<TRequest, TResponse>
        AsyncClientStreamingCallContinuation<TRequest, TResponse>(
            ClientInterceptorContext<TRequest, TResponse> context)
        where TRequest : class
        where TResponse : class;

    public delegate AsyncDuplexStreamingCall<TRequest, TResponse>
        AsyncDuplexStreamingCallContinuation<TRequest, TResponse>(
            ClientInterceptorContext<TRequest, TResponse> context)
        where TRequest : class
        where TResponse : class;

    public virtual TResponse BlockingUnaryCall<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        BlockingUnaryCallContinuation<TRequest, TResponse> continuation)
        where TRequest : class
        where TResponse : class =>
        continuation(request, context);

    public virtual AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncUnaryCallContinuation<TRequest, TResponse> continuation)
        where TRequest : class
        where TResponse : class =>
        continuation(request, context);

    public virtual AsyncServerStreamingCall<TResponse> AsyncServerStreamingCall<TRequest, TResponse>(
        TRequest request,
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncServerStreamingCallContinuation<TRequest, TResponse> continuation)
        where TRequest : class
        where TResponse : class =>
        continuation(request, context);

    public virtual AsyncClientStreamingCall<TRequest, TResponse> AsyncClientStreamingCall<TRequest, TResponse>(
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncClientStreamingCallContinuation<TRequest, TResponse> continuation)
        where TRequest : class
        where TResponse : class =>
        continuation(context);

    public virtual AsyncDuplexStreamingCall<TRequest, TResponse> AsyncDuplexStreamingCall<TRequest, TResponse>(
        ClientInterceptorContext<TRequest, TResponse> context,
        AsyncDuplexStreamingCallContinuation<TRequest, TResponse> continuation)
        where TRequest : class
        where TResponse : class =>
        continuation(context);

    public virtual Task<TResponse> UnaryServerHandler<TRequest, TResponse>(
        TRequest request, ServerCallContext context, UnaryServerMethod<TRequest, TResponse> continuation)
        where TRequest : class
        where TResponse : class =>
        continuation(request, context);

    public virtual Task<TResponse> ClientStreamingServerHandler<TRequest, TResponse>(
        IAsyncStreamReader<TRequest> requestStream,
        ServerCallContext context,
        ClientStreamingServerMethod<TRequest, TResponse> continuation)
        where TRequest : class
        where TResponse : class =>
        continuation(requestStream, context);

    public virtual Task ServerStreamingServerHandler<TRequest, TResponse>(
        TRequest request,
        IServerStreamWriter<TResponse> responseStream,
        ServerCallContext context,
        ServerStreamingServerMethod<TRequest, TResponse> continuation)
        where TRequest : class
        where TResponse : class =>
        continuation(request, responseStream, context);

    public virtual Task DuplexStreamingServerHandler<TRequest, TResponse>(
        IAsyncStreamReader<TRequest> requestStream,
        IServerStreamWriter<TResponse> responseStream,
        ServerCallContext context,
        DuplexStreamingServerMethod<TRequest, TResponse> continuation)
        where TRequest : class
        where TResponse : class =>
        continuation(requestStream, responseStream, context);
}
