using Billing.Proxy.Security;
using Grpc.Core;

namespace Billing.Proxy.Limits;

/// <summary>The places of one stream: one as long as it is open, and as many as it has payments in hand, up to its window. It
/// takes them as it reads requests, and gives them back as answers are written. One caller takes, another gives back.</summary>
internal sealed class StreamPlaces : IDisposable
{
    private readonly Admission _admission;
    private readonly CallerShares.Share _share;
    private readonly int _window;
    private readonly Lock _gate = new();
    private TaskCompletionSource? _givenBack;
    private int _held;

    /// <summary>Opens the stream.</summary>
    /// <param name="admission">Where the places come from.</param>
    /// <param name="caller">Whose stream it is.</param>
    /// <param name="window">How many payments the stream holds at most; at least 1.</param>
    /// <exception cref="RpcException">RESOURCE_EXHAUSTED where the proxy or the streams' share of it is full, UNAVAILABLE where
    /// the proxy is shutting down.</exception>
    public StreamPlaces(Admission admission, Caller caller, int window)
    {
        _share = admission.EnterStream(caller);
        _admission = admission;
        Caller = caller;
        _window = window;
    }

    /// <summary>Whose stream it is.</summary>
    public Caller Caller { get; }

    /// <summary>Payments in hand, with the one that is read next.</summary>
    public int Held
    {
        get
        {
            lock (_gate)
            {
                return _held;
            }
        }
    }

    /// <summary>Takes the place of the payment that is read next. Where there is none, waits until a place of this stream is
    /// given back: it has at least one in hand then, so that comes to pass.</summary>
    public async ValueTask TakeAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            Task wait;
            lock (_gate)
            {
                // The first place is the open stream's own.
                if (_held < _window && (_held == 0 || _admission.TryGrowStream(_share)))
                {
                    _held++;
                    return;
                }
                _givenBack = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                wait = _givenBack.Task;
            }
            await wait.WaitAsync(cancellationToken);
        }
    }

    /// <summary>Waits until the caller may send one more payment.</summary>
    public ValueTask WaitForTurnAsync(CancellationToken cancellationToken) => _admission.WaitForTurnAsync(Caller, cancellationToken);

    /// <summary>Gives places back.</summary>
    /// <param name="count">How many payments were answered.</param>
    public void GiveBack(int count)
    {
        TaskCompletionSource? waiting;
        lock (_gate)
        {
            var before = Math.Max(1, _held);
            _held -= count;
            _admission.ShrinkStream(_share, before - Math.Max(1, _held));
            (waiting, _givenBack) = (_givenBack, null);
        }
        waiting?.TrySetResult();
    }

    /// <summary>Closes the stream: gives all places back.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _admission.ShrinkStream(_share, Math.Max(1, _held));
        }
    }
}
