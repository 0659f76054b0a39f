using Confluent.Kafka;
using Microsoft.Extensions.Logging;

namespace Billing.Messaging.Kafka;

/// <summary>Two producers: one gathers records, for the linger and while a request is under way, the other sends at once. What is
/// sent while nothing is under way has nothing to be gathered with, and goes by the latter; under load nearly everything is
/// gathered. There is no order between the two: what has to keep an order goes by <see cref="Gathering"/>. Safe from any
/// thread.</summary>
internal sealed class ProducerPair : IDisposable
{
    private readonly IProducer<string, byte[]> _prompt;
    private int _underWay;

    /// <summary>Takes one producer for both: for tests and models of a broker, where nothing lingers.</summary>
    public ProducerPair(IProducer<string, byte[]> producer)
        : this(producer, producer)
    {
    }

    /// <summary>Takes one producer that gathers and one that does not.</summary>
    internal ProducerPair(IProducer<string, byte[]> gathering, IProducer<string, byte[]> prompt)
    {
        Gathering = gathering;
        _prompt = prompt;
    }

    /// <summary>The producer that gathers.</summary>
    public IProducer<string, byte[]> Gathering { get; }

    /// <summary>Builds both, which connect by themselves.</summary>
    /// <param name="options">The brokers and the linger.</param>
    /// <param name="clientId">Names the client at the brokers.</param>
    /// <param name="messageTimeout">How long a record may take to be acknowledged; zero for ever.</param>
    /// <param name="onError">Is told of errors of the client as a whole.</param>
    /// <param name="logger">Where the client's log goes.</param>
    public static ProducerPair Build(
        KafkaOptions options, string clientId, TimeSpan messageTimeout, Action<Error> onError, ILogger logger)
    {
        return new ProducerPair(Build(clientId, gathers: true), Build(clientId + "-prompt", gathers: false));

        IProducer<string, byte[]> Build(string id, bool gathers) =>
            new ProducerBuilder<string, byte[]>(options.Producer(id, messageTimeout, gathers))
                .SetErrorHandler((_, e) => onError(e))
                .SetLogHandler((_, m) => KafkaLog.ClientLog(logger, m.Facility, m.Message))
                .Build();
    }

    /// <summary>Notes that something is under way, until <see cref="End"/>.</summary>
    /// <returns>The producer to send it by.</returns>
    public IProducer<string, byte[]> Begin() => Interlocked.Increment(ref _underWay) == 1 ? _prompt : Gathering;

    /// <summary>Notes that something that was begun has been acknowledged or has failed.</summary>
    public void End() => Interlocked.Decrement(ref _underWay);

    /// <summary>Sends what is left, within the time.</summary>
    public void Flush(TimeSpan timeout)
    {
        _prompt.Flush(timeout);
        Gathering.Flush(timeout);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _prompt.Dispose();
        if (!ReferenceEquals(_prompt, Gathering))
        {
            Gathering.Dispose();
        }
    }
}
