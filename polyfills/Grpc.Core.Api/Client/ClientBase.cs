using Grpc.Core.Interceptors;
using Grpc.Core.Internal;

namespace Grpc.Core;

public abstract class ClientBase<T> : ClientBase
    where T : ClientBase<T>
{
    protected ClientBase()
    {
    }

    protected ClientBase(ClientBaseConfiguration configuration)
        : base(configuration)
    {
    }

    public ClientBase(ChannelBase channel)
        : base(channel)
    {
    }

    public ClientBase(CallInvoker callInvoker)
        : base(callInvoker)
    {
    }

    public T WithHost(string host) => NewInstance(Configuration.WithHost(host));

    protected abstract T NewInstance(ClientBaseConfiguration configuration);
}

public abstract class ClientBase
{
    protected ClientBase()
        : this(new UnimplementedCallInvoker())
    {
    }

    protected ClientBase(ClientBaseConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        Configuration = configuration;
        CallInvoker = configuration.CreateCallInvoker();
    }

    public ClientBase(ChannelBase channel)
        : this(channel.CreateCallInvoker())
    {
    }

    public ClientBase(CallInvoker callInvoker)
        : this(new ClientBaseConfiguration(callInvoker, null))
    {
    }

    protected CallInvoker CallInvoker { get; }

    internal ClientBaseConfiguration Configuration { get; }

    protected internal class ClientBaseConfiguration
    {
        private readonly CallInvoker _callInvoker;
        private readonly string? _host;

        internal ClientBaseConfiguration(CallInvoker callInvoker, string? host)
        {
            ArgumentNullException.ThrowIfNull(callInvoker);
            _callInvoker = callInvoker;
            _host = host;
        }

        /// <summary>The client's own host stands above one that a call was given.</summary>
        internal CallInvoker CreateCallInvoker() => _callInvoker.Intercept(new HostInterceptor(_host));

        internal ClientBaseConfiguration WithHost(string host)
        {
            ArgumentNullException.ThrowIfNull(host);
            return new ClientBaseConfiguration(_callInvoker, host);
        }
    }

    private sealed class HostInterceptor(string? host) : ContextInterceptor
    {
        protected override ClientInterceptorContext<TRequest, TResponse> Map<TRequest, TResponse>(
            ClientInterceptorContext<TRequest, TResponse> context) =>
            new(context.Method, host, context.Options);
    }
}
