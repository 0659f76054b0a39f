using System.Threading.Channels;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

/// <summary>The pages that watch: so many and no more, and none that reads slowly. Safe from any thread.</summary>
internal sealed class Watchers(IOptions<LiveOptions> options) : IDisposable
{
    private readonly Lock _gate = new();
    private readonly List<Watcher> _watchers = [];
    private readonly SemaphoreSlim _came = new(0, 1);

    /// <summary>How many watch. <see cref="SomebodyAsync"/> then completes for those who come after.</summary>
    public int Present()
    {
        lock (_gate)
        {
            _came.Wait(0);
            return _watchers.Count;
        }
    }

    /// <summary>Lets one more watch, until it is disposed of; null where there are too many.</summary>
    public Watcher? TryEnter()
    {
        lock (_gate)
        {
            if (_watchers.Count >= options.Value.WatchersMax)
            {
                return null;
            }
            var watcher = new Watcher(Leave);
            _watchers.Add(watcher);
            if (_came.CurrentCount == 0)
            {
                _came.Release();
            }
            return watcher;
        }
    }

    /// <summary>Completes when one has come since the last time, who may be gone again.</summary>
    public Task SomebodyAsync(CancellationToken cancellationToken) => _came.WaitAsync(cancellationToken);

    /// <summary>Tells all.</summary>
    public void Tell(ReadOnlyMemory<byte> message)
    {
        lock (_gate)
        {
            _watchers.ForEach(watcher => watcher.Tell(message));
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _came.Dispose();

    private void Leave(Watcher watcher)
    {
        lock (_gate)
        {
            _watchers.Remove(watcher);
        }
    }
}

/// <summary>A page that watches.</summary>
internal sealed class Watcher(Action<Watcher> leave) : IDisposable
{
    // Seconds that it may be behind.
    private const int BehindMax = 5;

    private readonly Channel<ReadOnlyMemory<byte>> _messages = Channel.CreateBounded<ReadOnlyMemory<byte>>(BehindMax);
    private readonly CancellationTokenSource _tooSlow = new();

    /// <summary>What it is to be told.</summary>
    public IAsyncEnumerable<ReadOnlyMemory<byte>> Messages(CancellationToken cancellationToken) =>
        _messages.Reader.ReadAllAsync(cancellationToken);

    /// <summary>Cancelled when it is so far behind that it is given up.</summary>
    public CancellationToken TooSlow => _tooSlow.Token;

    /// <summary>Tells it.</summary>
    public void Tell(ReadOnlyMemory<byte> message)
    {
        if (!_messages.Writer.TryWrite(message))
        {
            // Not on this thread: whoever waits for it goes on there.
            _ = _tooSlow.CancelAsync();
        }
    }

    /// <summary>It watches no more.</summary>
    public void Dispose()
    {
        leave(this);
        _tooSlow.Dispose();
    }
}
