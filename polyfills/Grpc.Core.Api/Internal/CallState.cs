namespace Grpc.Core.Internal;

/// <summary>
/// What a client call knows besides its messages. A transport hands over callbacks with a state object, so that a call
/// costs it no closures.
/// </summary>
internal readonly struct CallState(
    Func<object, Task<Metadata>> headers,
    Func<object, Status> status,
    Func<object, Metadata> trailers,
    Action<object> dispose,
    object state)
{
    public CallState(Task<Metadata> headers, Func<Status> status, Func<Metadata> trailers, Action dispose)
        : this(_ => headers, _ => status(), _ => trailers(), _ => dispose(), headers)
    {
    }

    public Task<Metadata> ResponseHeadersAsync => headers(state);

    public Status GetStatus() => status(state);

    public Metadata GetTrailers() => trailers(state);

    public void Dispose() => dispose(state);
}
