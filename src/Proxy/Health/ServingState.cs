using System.Runtime.CompilerServices;
using System.Threading.Channels;
using static Billing.Contracts.Health.V1.HealthCheckResponse.Types;

namespace Billing.Proxy.Health;

/// <summary>
/// Which services of this process accept calls. Thread-safe; a singleton that startup and shutdown write and the health
/// service reads. A service has its full name, as in <c>billing.v1.Billing</c>; the empty name stands for the process as
/// a whole, which is known from the start and is not serving until it is set to.
/// </summary>
public sealed class ServingState
{
    private readonly Lock _lock = new();

    private readonly Dictionary<string, ServingStatus> _statuses = new(StringComparer.Ordinal)
    {
        [""] = ServingStatus.NotServing,
    };

    private readonly HashSet<Watcher> _watchers = [];

    /// <summary>Sets a service to serving: it accepts calls from now on.</summary>
    /// <param name="service">Full name; empty for the process as a whole.</param>
    public void SetServing(string service = "") => Set(service, ServingStatus.Serving);

    /// <summary>Sets a service to not serving: it accepts no calls from now on.</summary>
    /// <param name="service">Full name; empty for the process as a whole.</param>
    public void SetNotServing(string service = "") => Set(service, ServingStatus.NotServing);

    /// <summary>The current state of a service; null for one that was never set.</summary>
    /// <param name="service">Full name; empty for the process as a whole.</param>
    public ServingStatus? Find(string service)
    {
        lock (_lock)
        {
            return _statuses.TryGetValue(service, out var status) ? status : null;
        }
    }

    /// <summary>The current state of each service that was ever set, by name.</summary>
    public IReadOnlyDictionary<string, ServingStatus> Snapshot()
    {
        lock (_lock)
        {
            return new Dictionary<string, ServingStatus>(_statuses, StringComparer.Ordinal);
        }
    }

    /// <summary>
    /// The current state of a service, then each change, until cancelled. A reader slower than the changes skips to the
    /// latest; the same state is never returned twice in a row.
    /// </summary>
    /// <param name="service">Full name; empty for the process as a whole. A service is
    /// <see cref="ServingStatus.ServiceUnknown"/> until its state is first set.</param>
    /// <param name="cancellationToken">Ends the watch.</param>
    /// <exception cref="OperationCanceledException">The watch was ended by the token.</exception>
    public async IAsyncEnumerable<ServingStatus> Watch(
        string service, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var watcher = Subscribe(service);
        try
        {
            ServingStatus? last = null;
            await foreach (var status in watcher.Changes.Reader.ReadAllAsync(cancellationToken).ConfigureAwait(false))
            {
                if (status != last)
                {
                    last = status;
                    yield return status;
                }
            }
        }
        finally
        {
            lock (_lock)
            {
                _watchers.Remove(watcher);
            }
        }
    }

    private Watcher Subscribe(string service)
    {
        var latestOnly = new BoundedChannelOptions(1)
        {
            FullMode = BoundedChannelFullMode.DropOldest,
            SingleReader = true,
        };
        var watcher = new Watcher(service, Channel.CreateBounded<ServingStatus>(latestOnly));
        lock (_lock)
        {
            watcher.Changes.Writer.TryWrite(_statuses.GetValueOrDefault(service, ServingStatus.ServiceUnknown));
            _watchers.Add(watcher);
        }

        return watcher;
    }

    private void Set(string service, ServingStatus status)
    {
        ArgumentNullException.ThrowIfNull(service);

        // Written under the lock, so that every watcher ends with the state that was set last.
        lock (_lock)
        {
            _statuses[service] = status;
            foreach (var watcher in _watchers.Where(watcher => watcher.Service == service))
            {
                watcher.Changes.Writer.TryWrite(status);
            }
        }
    }

    private sealed class Watcher(string service, Channel<ServingStatus> changes)
    {
        public string Service { get; } = service;

        public Channel<ServingStatus> Changes { get; } = changes;
    }
}
