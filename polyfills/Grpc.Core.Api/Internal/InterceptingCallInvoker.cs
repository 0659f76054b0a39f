using Grpc.Core.Interceptors;

namespace Grpc.Core.Internal;

internal sealed class InterceptingCallInvoker : CallInvoker
{
    private readonly CallInvoker _next;
    private readonly Interceptor _interceptor;

    public InterceptingCallInvoker(CallInvoker next, Interceptor interceptor)
    {
        ArgumentNullException.ThrowIfNull(next);
        ArgumentNullException.ThrowIfNull(interceptor);
        _next = next;
        _interceptor = interceptor;
    }

    public override TResponse BlockingUnaryCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request) =>
        _interceptor.BlockingUnaryCall<TRequest, TResponse>(
            request,
            new(method, host, options),
            (message, context) => _next.BlockingUnaryCall(context.Method, context.Host, context.Options, message));

    public override AsyncUnaryCall<TResponse> AsyncUnaryCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request) =>
        _interceptor.AsyncUnaryCall<TRequest, TResponse>(
            request,
            new(method, host, options),
            (message, context) => _next.AsyncUnaryCall(context.Method, context.Host, context.Options, message));

    public override AsyncServerStreamingCall<TResponse> AsyncServerStreamingCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options, TRequest request) =>
        _interceptor.AsyncServerStreamingCall<TRequest, TResponse>(
            request,
            new(method, host, options),
            (message, context) =>
                _next.AsyncServerStreamingCall(context.Method, context.Host, context.Options, message));

    public override AsyncClientStreamingCall<TRequest, TResponse> AsyncClientStreamingCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options) =>
        _interceptor.AsyncClientStreamingCall<TRequest, TResponse>(
            new(method, host, options),
            context => _next.AsyncClientStreamingCall(context.Method, context.Host, context.Options));

    public override AsyncDuplexStreamingCall<TRequest, TResponse> AsyncDuplexStreamingCall<TRequest, TResponse>(
        Method<TRequest, TResponse> method, string? host, CallOptions options) =>
        _interceptor.AsyncDuplexStreamingCall<TRequest, TResponse>(
            new(method, host, options),
            context => _next.AsyncDuplexStreamingCall(context.Method, context.Host, context.Options));
}
