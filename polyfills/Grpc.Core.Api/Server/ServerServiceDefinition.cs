namespace Grpc.Core;

public class ServerServiceDefinition
{
    private readonly IReadOnlyList<Action<ServiceBinderBase>> _bindings;

    internal ServerServiceDefinition(IReadOnlyList<Action<ServiceBinderBase>> bindings) => _bindings = bindings;

    public static Builder CreateBuilder() => new();

    /// <summary>Called by the server's own assembly only, which sees the internals of this one.</summary>
    public void BindService(ServiceBinderBase serviceBinder)
    {
        foreach (var bind in _bindings)
        {
            bind(serviceBinder);
        }
    }

    public class Builder
    {
        private readonly Dictionary<string, Action<ServiceBinderBase>> _bindings = [];

        public Builder AddMethod<TRequest, TResponse>(
            Method<TRequest, TResponse> method, UnaryServerMethod<TRequest, TResponse> handler)
            where TRequest : class
            where TResponse : class =>
            Add(method, binder => binder.AddMethod(method, handler));

        public Builder AddMethod<TRequest, TResponse>(
            Method<TRequest, TResponse> method, ClientStreamingServerMethod<TRequest, TResponse> handler)
            where TRequest : class
            where TResponse : class =>
            Add(method, binder => binder.AddMethod(method, handler));

        public Builder AddMethod<TRequest, TResponse>(
            Method<TRequest, TResponse> method, ServerStreamingServerMethod<TRequest, TResponse> handler)
            where TRequest : class
            where TResponse : class =>
            Add(method, binder => binder.AddMethod(method, handler));

        public Builder AddMethod<TRequest, TResponse>(
            Method<TRequest, TResponse> method, DuplexStreamingServerMethod<TRequest, TResponse> handler)
            where TRequest : class
            where TResponse : class =>
            Add(method, binder => binder.AddMethod(method, handler));

        public ServerServiceDefinition Build() => new([.. _bindings.Values]);

        private Builder Add(IMethod method, Action<ServiceBinderBase> bind)
        {
            _bindings.Add(method.FullName, bind);
            return this;
        }
    }
}
