using Grpc.Core.Internal;

namespace Grpc.Core;

public sealed class AsyncDuplexStreamingCall<TRequest, TResponse> : IDisposable
{
    private readonly CallState _state;

    public AsyncDuplexStreamingCall(
        IClientStreamWriter<TRequest> requestStream,
        IAsyncStreamReader<TResponse> responseStream,
        Task<Metadata> responseHeadersAsync,
        Func<Status> getStatusFunc,
        Func<Metadata> getTrailersFunc,
        Action disposeAction)
    {
        RequestStream = requestStream;
        ResponseStream = responseStream;
        _state = new CallState(responseHeadersAsync, getStatusFunc, getTrailersFunc, disposeAction);
    }

    public AsyncDuplexStreamingCall(
        IClientStreamWriter<TRequest> requestStream,
        IAsyncStreamReader<TResponse> responseStream,
        Func<object, Task<Metadata>> responseHeadersAsync,
        Func<object, Status> getStatusFunc,
        Func<object, Metadata> getTrailersFunc,
        Action<object> disposeAction,
        object state)
    {
        RequestStream = requestStream;
        ResponseStream = responseStream;
        _state = new CallState(responseHeadersAsync, getStatusFunc, getTrailersFunc, disposeAction, state);
    }

    public IClientStreamWriter<TRequest> RequestStream { get; }

    public IAsyncStreamReader<TResponse> ResponseStream { get; }

    public Task<Metadata> ResponseHeadersAsync => _state.ResponseHeadersAsync;

    public Status GetStatus() => _state.GetStatus();

    public Metadata GetTrailers() => _state.GetTrailers();

    /// <summary>Cancels the call unless it is over.</summary>
    public void Dispose() => _state.Dispose();
}
