using Billing.Hosting;
using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka.Clients;

/// <summary>Two producers: one batches records, for the linger time and while a request is in flight; the other sends at once. A
/// record that is sent while none is in flight has no others to be batched with and uses the latter; under load nearly all
/// records are batched. There is no order between the two: records that must keep their order use <see cref="Batching"/>.
/// Thread-safe.</summary>
internal sealed class ProducerPair : IDisposable
{
    private readonly IProducer<string, byte[]> _prompt;
    private int _inFlight;

    /// <summary>Creates the pair with one producer for both roles, for tests and simulated brokers without linger.</summary>
    public ProducerPair(IProducer<string, byte[]> producer)
        : this(producer, producer)
    {
    }

    internal ProducerPair(IProducer<string, byte[]> batching, IProducer<string, byte[]> prompt) => (Batching, _prompt) = (batching, prompt);

    public IProducer<string, byte[]> Batching { get; }

    /// <summary>Builds both producers, which connect in the background. A record may take <paramref name="messageTimeout"/> to be
    /// acknowledged; zero for no limit. A fatal error of one is a failure of <paramref name="owner"/>, which stops the process.</summary>
    public static ProducerPair Build(
        KafkaOptions options, string clientId, TimeSpan messageTimeout, string owner, Supervisor supervisor, ILogger logger)
    {
        return new ProducerPair(Build(clientId, batches: true), Build(clientId + "-prompt", batches: false));

        IProducer<string, byte[]> Build(string id, bool batches) =>
            KafkaClients.Producer<string, byte[]>(options.Producer(id, messageTimeout, batches), FailIfFatal, logger);

        void FailIfFatal(Error error)
        {
            KafkaLog.Error(logger, error);
            if (error.IsFatal)
            {
                supervisor.Fail(owner, new KafkaException(error));
            }
        }
    }

    /// <summary>Counts a send as in flight until <see cref="End"/>.</summary>
    /// <returns>The producer to send it with.</returns>
    public IProducer<string, byte[]> Begin() => Interlocked.Increment(ref _inFlight) == 1 ? _prompt : Batching;

    /// <summary>Ends a send that was begun: it has been acknowledged or has failed.</summary>
    public void End() => Interlocked.Decrement(ref _inFlight);

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
