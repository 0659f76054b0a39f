using Grpc.Core.Internal;

namespace Grpc.Core.Interceptors;

public static class CallInvokerExtensions
{
    public static CallInvoker Intercept(this CallInvoker invoker, Interceptor interceptor) =>
        new InterceptingCallInvoker(invoker, interceptor);

    /// <summary>The first of the interceptors sees a call first.</summary>
    public static CallInvoker Intercept(this CallInvoker invoker, params Interceptor[] interceptors)
    {
        ArgumentNullException.ThrowIfNull(invoker);
        ArgumentNullException.ThrowIfNull(interceptors);
        return interceptors.Reverse().Aggregate(invoker, (next, interceptor) => next.Intercept(interceptor));
    }

    public static CallInvoker Intercept(this CallInvoker invoker, Func<Metadata, Metadata> interceptor)
    {
        ArgumentNullException.ThrowIfNull(interceptor);
        return new InterceptingCallInvoker(invoker, new HeaderInterceptor(interceptor));
    }

    private sealed class HeaderInterceptor(Func<Metadata, Metadata> replaceHeaders) : ContextInterceptor
    {
        protected override ClientInterceptorContext<TRequest, TResponse> Map<TRequest, TResponse>(
            ClientInterceptorContext<TRequest, TResponse> context)
        {
            var headers = replaceHeaders(context.Options.Headers ?? []);
            return new(context.Method, context.Host, context.Options.WithHeaders(headers));
        }
    }
}

public static class ChannelExtensions
{
    public static CallInvoker Intercept(this ChannelBase channel, Interceptor interceptor) =>
        channel.CreateCallInvoker().Intercept(interceptor);

    public static CallInvoker Intercept(this ChannelBase channel, params Interceptor[] interceptors) =>
        channel.CreateCallInvoker().Intercept(interceptors);

    public static CallInvoker Intercept(this ChannelBase channel, Func<Metadata, Metadata> interceptor) =>
        channel.CreateCallInvoker().Intercept(interceptor);
}
