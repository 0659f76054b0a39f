using System.Runtime.InteropServices;
using Billing.Contracts;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Publishes what a backend has to say: one record for each proxy with all of a batch's replies to it, and one
/// record for each event. Owns the process's producer, which the dead letters share.</summary>
public sealed class KafkaAnswerPublisher : IAnswerPublisher, IDisposable
{
    private static readonly TimeSpan FlushTimeout = TimeSpan.FromSeconds(5);

    private readonly IProducer<string, byte[]> _producer;
    private readonly ILogger<KafkaAnswerPublisher> _logger;
    private bool _disposed;

    /// <summary>Creates the publisher.</summary>
    public KafkaAnswerPublisher(
        IOptions<KafkaOptions> options, IHostApplicationLifetime lifetime, ILogger<KafkaAnswerPublisher> logger)
    {
        _logger = logger;
        _producer = new ProducerBuilder<string, byte[]>(options.Value.Producer("billing-backend", TimeSpan.FromSeconds(60)))
            .SetErrorHandler((_, e) =>
            {
                KafkaLog.Error(logger, e);
                if (e.IsFatal)
                {
                    lifetime.StopApplication();
                }
            })
            .SetLogHandler((_, m) => KafkaLog.ClientLog(logger, m.Facility, m.Message))
            .Build();
        DeadLetters = new DeadLetters(_producer, logger);
    }

    /// <summary>Where records go that cannot be processed.</summary>
    public DeadLetters DeadLetters { get; }

    /// <inheritdoc/>
    public Task PublishAsync(IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken)
    {
        var publication = new Publication(_producer, _logger, cancellationToken);
        foreach (var fact in events)
        {
            publication.Send(Topics.Events, new Message<string, byte[]>
            {
                Key = fact.StreamId,
                Value = fact.ToByteArray(),
                Headers = Version(),
            });
        }
        var batches = new Dictionary<string, ReplyBatch>(StringComparer.Ordinal);
        foreach (var (topic, reply) in answers)
        {
            ref var batch = ref CollectionsMarshal.GetValueRefOrAddDefault(batches, topic, out _);
            (batch ??= new ReplyBatch()).Replies.Add(reply);
        }
        foreach (var (topic, batch) in batches)
        {
            publication.Send(topic, new Message<string, byte[]> { Value = batch.ToByteArray(), Headers = Version() });
        }
        return publication.AllSent();
    }

    /// <summary>Sends what is left, within bounds. More than one registration may lead here.</summary>
    public void Dispose()
    {
        if (_disposed)
        {
            return;
        }
        _disposed = true;
        _producer.Flush(FlushTimeout);
        _producer.Dispose();
    }

    private static Headers Version() => new() { { WireFormat.VersionHeader, WireFormat.VersionBytes.ToArray() } };

    /// <summary>Counts the acknowledgements of one call.</summary>
    private sealed class Publication(
        IProducer<string, byte[]> producer, ILogger logger, CancellationToken cancellationToken)
    {
        private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

        // One more than what is under way, until AllSent: an early acknowledgement must not end the wait.
        private int _open = 1;

        public void Send(string topic, Message<string, byte[]> message)
        {
            Interlocked.Increment(ref _open);
            Produce(topic, message);
        }

        public Task AllSent()
        {
            Close();
            return _done.Task;
        }

        private void Produce(string topic, Message<string, byte[]> message)
        {
            try
            {
                producer.Produce(topic, message, report => Acknowledge(topic, message, report.Error));
            }
            catch (ProduceException<string, byte[]> e)
            {
                Acknowledge(topic, message, e.Error);
            }
        }

        private void Acknowledge(string topic, Message<string, byte[]> message, Confluent.Kafka.Error error)
        {
            if (!error.IsError)
            {
                Close();
            }
            else if (topic != Topics.Events && IsGone(error))
            {
                KafkaLog.ReplyDropped(logger, topic, error.Reason);
                Close();
            }
            else if (error.IsFatal || cancellationToken.IsCancellationRequested)
            {
                // The offsets of these commands are not committed; whoever owns them next finds their receipts.
                _done.TrySetException(new KafkaException(error));
            }
            else
            {
                KafkaLog.SendingAgain(logger, topic, error.Reason);
                _ = Task.Run(() => Produce(topic, message), CancellationToken.None);
            }
        }

        private static bool IsGone(Confluent.Kafka.Error error) => error.Code
            is ErrorCode.UnknownTopicOrPart or ErrorCode.Local_UnknownTopic or ErrorCode.Local_UnknownPartition
            or ErrorCode.TopicException or ErrorCode.TopicAuthorizationFailed;

        private void Close()
        {
            if (Interlocked.Decrement(ref _open) == 0)
            {
                _done.TrySetResult();
            }
        }
    }
}
