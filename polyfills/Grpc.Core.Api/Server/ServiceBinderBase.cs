namespace Grpc.Core;

/// <summary>A server overrides the call shapes that it can bind.</summary>
public class ServiceBinderBase
{
    public virtual void AddMethod<TRequest, TResponse>(
        Method<TRequest, TResponse> method, UnaryServerMethod<TRequest, TResponse>? handler)
        where TRequest : class
        where TResponse : class =>
        throw new NotImplementedException();

    public virtual void AddMethod<TRequest, TResponse>(
        Method<TRequest, TResponse> method, ClientStreamingServerMethod<TRequest, TResponse>? handler)
        where TRequest : class
        where TResponse : class =>
        throw new NotImplementedException();

    public virtual void AddMethod<TRequest, TResponse>(
        Method<TRequest, TResponse> method, ServerStreamingServerMethod<TRequest, TResponse>? handler)
        where TRequest : class
        where TResponse : class =>
        throw new NotImplementedException();

    public virtual void AddMethod<TRequest, TResponse>(
        Method<TRequest, TResponse> method, DuplexStreamingServerMethod<TRequest, TResponse>? handler)
        where TRequest : class
        where TResponse : class =>
        throw new NotImplementedException();
}
