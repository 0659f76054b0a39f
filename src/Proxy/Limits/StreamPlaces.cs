using Billing.Proxy.Failures;
using Billing.Proxy.Security;

namespace Billing.Proxy.Limits;

/// <summary>The places of one stream: one for each payment in flight, up to its window, and at least one while it is
/// open. Places are taken as requests are read, and released as answers are written. One task at a time may take, and
/// another one may release.</summary>
internal sealed class StreamPlaces : IDisposable
{
    private readonly Admission _admission;
    private readonly CallerShares.Share _share;

    // The most payments of the stream in flight; at least 1.
    private readonly int _window;
    private readonly Lock _gate = new();
    private TaskCompletionSource? _givenBack;
    private int _held;
    private bool _closed;

    /// <summary>Opens the stream.</summary>
    /// <exception cref="FailureException">RESOURCE_EXHAUSTED if the proxy, the streams' share or the caller's share of
    /// it is full, UNAVAILABLE if the proxy is shutting down.</exception>
    public StreamPlaces(Admission admission, Caller caller, int window)
    {
        _share = admission.EnterStream(caller).Value;
        _admission = admission;
        _window = window;
    }

    /// <summary>Number of payments in flight, including the one to be read next.</summary>
    public int Held => Volatile.Read(ref _held);

    /// <summary>Takes a place for the payment to be read next. If there is none, waits until a place of this stream is
    /// released; it has at least one payment in flight then, so this happens eventually.</summary>
    public async ValueTask TakeAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            Task wait;
            lock (_gate)
            {
                // The first place was taken when the stream was opened.
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
    public ValueTask WaitForTurnAsync(CancellationToken cancellationToken) =>
        _share.Tokens?.TakeNextAsync(cancellationToken) ?? ValueTask.CompletedTask;

    private int Taken => _closed ? _held : Math.Max(1, _held);

    /// <summary>Releases places; also after the stream was closed.</summary>
    public void Release(int count)
    {
        TaskCompletionSource? waiting;
        lock (_gate)
        {
            var before = Taken;
            _held -= count;
            _admission.ShrinkStream(_share, before - Taken);
            (waiting, _givenBack) = (_givenBack, null);
        }
        waiting?.TrySetResult();
    }

    /// <summary>Closes the stream: it has no place but those of its payments in flight.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            var before = Taken;
            _closed = true;
            _admission.ShrinkStream(_share, before - Taken);
        }
    }
}
