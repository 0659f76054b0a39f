using System.Runtime.CompilerServices;
using Grpc.Core.Internal;

namespace Grpc.Core;

public sealed class AsyncClientStreamingCall<TRequest, TResponse> : IDisposable
{
    private readonly CallState _state;

    public AsyncClientStreamingCall(
        IClientStreamWriter<TRequest> requestStream,
        Task<TResponse> responseAsync,
        Task<Metadata> responseHeadersAsync,
        Func<Status> getStatusFunc,
        Func<Metadata> getTrailersFunc,
        Action disposeAction)
    {
        RequestStream = requestStream;
        ResponseAsync = responseAsync;
        _state = new CallState(responseHeadersAsync, getStatusFunc, getTrailersFunc, disposeAction);
    }

    public AsyncClientStreamingCall(
        IClientStreamWriter<TRequest> requestStream,
        Task<TResponse> responseAsync,
        Func<object, Task<Metadata>> responseHeadersAsync,
        Func<object, Status> getStatusFunc,
        Func<object, Metadata> getTrailersFunc,
        Action<object> disposeAction,
        object state)
    {
        RequestStream = requestStream;
        ResponseAsync = responseAsync;
        _state = new CallState(responseHeadersAsync, getStatusFunc, getTrailersFunc, disposeAction, state);
    }

    public IClientStreamWriter<TRequest> RequestStream { get; }

    public Task<TResponse> ResponseAsync { get; }

    public Task<Metadata> ResponseHeadersAsync => _state.ResponseHeadersAsync;

    public TaskAwaiter<TResponse> GetAwaiter() => ResponseAsync.GetAwaiter();

    public ConfiguredTaskAwaitable<TResponse> ConfigureAwait(bool continueOnCapturedContext) =>
        ResponseAsync.ConfigureAwait(continueOnCapturedContext);

    public Status GetStatus() => _state.GetStatus();

    public Metadata GetTrailers() => _state.GetTrailers();

    /// <summary>Cancels the call unless it is over.</summary>
    public void Dispose() => _state.Dispose();
}
