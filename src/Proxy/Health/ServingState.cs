using System.Runtime.CompilerServices;
using System.Threading.Channels;
using static Billing.Contracts.Health.V1.HealthCheckResponse.Types;

namespace Billing.Proxy.Health;

/// <summary>
/// Which services of this process take calls. Thread-safe; a singleton that start-up and shutdown write and the health
/// service reads. A service is named in full, as in <c>billing.v1.Billing</c>; the empty name is the process as a
/// whole, which exists from the start and is not serving until told so.
/// </summary>
public sealed class ServingState
{
    private readonly Lock _lock = new();

    private readonly Dictionary<string, ServingStatus> _statuses = new(StringComparer.Ordinal)
    {
        [""] = ServingStatus.NotServing,
    };

    private readonly HashSet<Watcher> _watchers = [];

    /// <summary>From now on the service takes calls.</summary>
    /// <param name="service">Full name; empty for the process as a whole.</param>
    public void SetServing(string service = "") => Set(service, ServingStatus.Serving);

    /// <summary>From now on the service takes no calls.</summary>
    /// <param name="service">Full name; empty for the process as a whole.</param>
    public void SetNotServing(string service = "") => Set(service, ServingStatus.NotServing);

    /// <summary>The state of a service now; null for one that was never set.</summary>
    /// <param name="service">Full name; empty for the process as a whole.</param>
    public ServingStatus? Find(string service)
    {
        lock (_lock)
        {
            return _statuses.TryGetValue(service, out var status) ? status : null;
        }
    }

    /// <summary>The state now of each service that was ever set, by name.</summary>
    public IReadOnlyDictionary<string, ServingStatus> Snapshot()
    {
        lock (_lock)
        {
            return new Dictionary<string, ServingStatus>(_statuses, StringComparer.Ordinal);
        }
    }

    /// <summary>
    /// The state of a service now, then each change, until cancelled. A reader slower than the changes skips to the
    /// latest; the same state never comes twice in a row.
    /// </summary>
    /// <param name="service">Full name; empty for the process as a whole. One never set is
    /// <see cref="ServingStatus.ServiceUnknown"/> until it is.</param>
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
