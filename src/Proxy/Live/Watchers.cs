using System.Threading.Channels;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

/// <summary>The pages that watch. Their number is limited, and one that reads too slowly is cut off.
/// Thread-safe.</summary>
internal sealed class Watchers(IOptions<LiveOptions> options)
{
    private readonly Lock _gate = new();
    private readonly List<Watcher> _watchers = [];

    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _watchers.Count;
            }
        }
    }

    /// <summary>Adds a page, which watches until it is disposed of; null if there are too many.
    /// If it falls too far behind, it is cut off, possibly more than once.</summary>
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
            return watcher;
        }
    }

    public void Publish(ReadOnlyMemory<byte> message)
    {
        lock (_gate)
        {
            _watchers.ForEach(watcher => watcher.Publish(message));
        }
    }

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
