using Billing.Hosting;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Two producers: one batches records, for the linger time and while a request is in flight; the other
/// sends at once. A record that is sent while none is in flight has no others to be batched with and uses the
/// latter; under load nearly all records are batched. Records with one key keep their order: while one of them is in
/// flight with the latter, the others use it, too. Records that must keep their order otherwise use
/// <see cref="Batching"/>. Thread-safe.</summary>
internal sealed class ProducerPair : IDisposable
{
    // After it could not send a record: it may not be able to connect, and the next record would wait for as long,
    // with all that have its key.
    private static readonly TimeSpan Distrust = TimeSpan.FromMinutes(1);

    private readonly IProducer<string, byte[]> _prompt;
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();
    private string? _promptKey;
    private int _inFlight;
    private int _inFlightPrompt;
    private long? _distrustedSince;

    /// <summary>Creates the pair with one producer for both roles, for tests and simulated
    /// brokers without linger.</summary>
    public ProducerPair(IProducer<string, byte[]> producer)
        : this(producer, producer)
    {
    }

    internal ProducerPair(
        IProducer<string, byte[]> batching, IProducer<string, byte[]> prompt, TimeProvider? time = null) =>
        (Batching, _prompt, _time) = (batching, prompt, time ?? TimeProvider.System);

    public IProducer<string, byte[]> Batching { get; }

    /// <summary>Builds both producers, which connect in the background. A record may take
    /// <paramref name="messageTimeout"/> to be acknowledged; zero for no limit. A fatal error of one is a failure of
    /// <paramref name="owner"/>, which stops the process.</summary>
    public static ProducerPair Build(
        KafkaOptions options, string clientId, TimeSpan messageTimeout, string owner,
        Supervisor supervisor, ILogger logger) => new(
            KafkaClients.Producer(
                options.Commands(clientId, messageTimeout), owner, supervisor, logger),
            KafkaClients.Producer(
                options.Commands(clientId + "-prompt", messageTimeout, batches: false), owner, supervisor, logger));

    /// <summary>Counts a send as in flight until <see cref="End"/>.</summary>
    /// <param name="key">The key of its record.</param>
    /// <returns>The producer to send it with.</returns>
    public IProducer<string, byte[]> Begin(string key)
    {
        lock (_gate)
        {
            if (++_inFlight == 1 && IsTrusted)
            {
                _promptKey = key;
            }
            if (key != _promptKey)
            {
                return Batching;
            }
            _inFlightPrompt++;
            return _prompt;
        }
    }

    /// <summary>Ends a send that was begun: it has been acknowledged or has failed.</summary>
    /// <param name="producer">The producer that it was sent with.</param>
    /// <param name="hasFailed">Whether it has failed.</param>
    public void End(IProducer<string, byte[]> producer, bool hasFailed)
    {
        lock (_gate)
        {
            _inFlight--;
            if (producer != _prompt)
            {
                return;
            }
            if (hasFailed)
            {
                _distrustedSince = _time.GetTimestamp();
            }
            if (--_inFlightPrompt == 0)
            {
                _promptKey = null;
            }
        }
    }

    private bool IsTrusted => _distrustedSince is not { } since || _time.GetElapsedTime(since) >= Distrust;

    /// <summary>Sends the remaining records, each producer within the timeout.</summary>
    public void Flush(TimeSpan timeout)
    {
        _prompt.Flush(timeout);
        Batching.Flush(timeout);
    }

    public void Dispose()
    {
        _prompt.Dispose();
        if (!ReferenceEquals(_prompt, Batching))
        {
            Batching.Dispose();
        }
    }
}
