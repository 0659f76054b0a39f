using System.Threading.Channels;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

/// <summary>The pages that watch. Their number is limited, and one that reads too slowly is cut off. Thread-safe.</summary>
internal sealed class Watchers(IOptions<LiveOptions> options) : IDisposable
{
    private readonly Lock _gate = new();
    private readonly List<Watcher> _watchers = [];
    private readonly SemaphoreSlim _came = new(0, 1);

    /// <summary>Number of pages that watch. Afterwards <see cref="WaitForPageAsync"/> completes only for pages that come later.
    /// </summary>
    public int Count()
    {
        lock (_gate)
        {
            _came.Wait(0);
            return _watchers.Count;
        }
    }

    /// <summary>Adds a page, which watches until it is disposed of; null if there are too many. If it falls too far behind, it is cut
    /// off, possibly more than once.</summary>
    public Watcher? TryEnter(Action cutOff)
    {
        lock (_gate)
        {
            if (_watchers.Count >= options.Value.WatchersMax)
            {
                return null;
            }
            var watcher = new Watcher(cutOff, Leave);
            _watchers.Add(watcher);
            if (_came.CurrentCount == 0)
            {
                _came.Release();
            }
            return watcher;
        }
    }

    /// <summary>Completes when a page has come since the last call; it may have left already.</summary>
    public Task WaitForPageAsync(CancellationToken cancellationToken) => _came.WaitAsync(cancellationToken);

    public void Publish(ReadOnlyMemory<byte> message)
    {
        lock (_gate)
        {
            _watchers.ForEach(watcher => watcher.Publish(message));
        }
    }

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
internal sealed class Watcher(Action cutOff, Action<Watcher> leave) : IDisposable
{
    // The most unread messages, of which there is one per second.
    private const int BehindMax = 5;

    private readonly Channel<ReadOnlyMemory<byte>> _messages = Channel.CreateBounded<ReadOnlyMemory<byte>>(BehindMax);

    public IAsyncEnumerable<ReadOnlyMemory<byte>> Messages(CancellationToken cancellationToken) =>
        _messages.Reader.ReadAllAsync(cancellationToken);

    public void Publish(ReadOnlyMemory<byte> message)
    {
        if (!_messages.Writer.TryWrite(message))
        {
            cutOff();
        }
    }

    public void Dispose() => leave(this);
}
