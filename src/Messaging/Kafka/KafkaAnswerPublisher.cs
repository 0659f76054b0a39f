using System.Diagnostics;
using Billing.Contracts;
using Billing.Messaging.Hosting;
using Billing.Messaging.Telemetry;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Publishes what a backend has to say: for each proxy, records with all of a batch's replies to it, and one record
/// for each event. Owns the process's producer, which the dead letters share.</summary>
public sealed class KafkaAnswerPublisher : IAnswerPublisher, IDisposable
{
    /// <summary>Bytes of replies in one record, about; half of what brokers take by default.</summary>
    internal const int ReplyBatchBytesMax = 500_000;

    private static readonly TimeSpan FlushTimeout = TimeSpan.FromSeconds(5);

    private readonly ProducerPair _producers;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private volatile Exception? _failure;
    private bool _disposed;

    /// <summary>Creates the publisher.</summary>
    public KafkaAnswerPublisher(
        IOptions<KafkaOptions> options, Supervisor supervisor, TimeProvider time, ILogger<KafkaAnswerPublisher> logger)
        : this(Build(options.Value, supervisor, logger), time, logger)
    {
    }

    /// <summary>Creates the publisher on producers, which it owns from now on.</summary>
    internal KafkaAnswerPublisher(ProducerPair producers, TimeProvider time, ILogger logger)
    {
        _producers = producers;
        _time = time;
        _logger = logger;
        DeadLetters = new DeadLetters(producers.Gathering, time, logger);
    }

    /// <summary>Where records go that cannot be processed.</summary>
    public DeadLetters DeadLetters { get; }

    /// <inheritdoc/>
    public Task PublishAsync(IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken)
    {
        var publication = new Publication(this, cancellationToken);
        publication.BeginEvents(events.Count);
        foreach (var fact in events)
        {
            if (_failure is { } failure)
            {
                // What comes behind an event that could not be published would come before it.
                return publication.Failed(failure);
            }
            publication.SendEvent(new Message<string, byte[]>
            {
                Key = fact.StreamId,
                Value = fact.ToByteArray(),
                Headers = WireHeaders.Version,
            });
        }
        var batches = new Dictionary<string, (ReplyBatch Batch, int Bytes)>(StringComparer.Ordinal);
        foreach (var (topic, reply) in answers)
        {
            var bytes = reply.CalculateSize();
            if (!batches.TryGetValue(topic, out var open))
            {
                open = (new ReplyBatch(), 0);
            }
            else if (open.Bytes + bytes > ReplyBatchBytesMax)
            {
                publication.SendReplies(topic, Message(open.Batch));
                open = (new ReplyBatch(), 0);
            }
            open.Batch.Replies.Add(reply);
            batches[topic] = (open.Batch, open.Bytes + bytes);
        }
        foreach (var (topic, (batch, _)) in batches)
        {
            publication.SendReplies(topic, Message(batch));
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
        _producers.Flush(FlushTimeout);
        _producers.Dispose();
    }

    // Without a time-out: an event that was given up and sent again would come behind newer ones of its account, and whoever
    // follows the topic and drops what is covered would lose it.
    private static ProducerPair Build(KafkaOptions options, Supervisor supervisor, ILogger logger) =>
        ProducerPair.Build(options, "billing-backend", messageTimeout: TimeSpan.Zero, e =>
        {
            KafkaLog.Error(logger, e);
            if (e.IsFatal)
            {
                supervisor.Fail(nameof(KafkaAnswerPublisher), new KafkaException(e));
            }
        }, logger);

    private static Message<string, byte[]> Message(ReplyBatch batch) => new() { Value = batch.ToByteArray() };

    /// <summary>Counts the acknowledgements of one call.</summary>
    private sealed class Publication(KafkaAnswerPublisher publisher, CancellationToken cancellationToken)
    {
        private static readonly TimeSpan RetryDelay = TimeSpan.FromMilliseconds(250);

        private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

        // Replies have no order among each other, and somebody waits for them; events have one, and nobody does.
        private readonly IProducer<string, byte[]> _replies = publisher._producers.Begin();

        // One more than what is under way, until AllSent: an early acknowledgement must not end the wait.
        private int _open = 1;

        // The spans of what is under way; most publications have none.
        private List<Activity>? _spans;

        public void SendEvent(Message<string, byte[]> message)
        {
            Interlocked.Increment(ref _open);
            Produce(publisher._producers.Gathering, Topics.Events, message);
        }

        /// <summary>Sends a record of replies with the span of its sending in its headers.</summary>
        public void SendReplies(string topic, Message<string, byte[]> message)
        {
            message.Headers = WireHeaders.For(Note(KafkaTracing.StartSend(topic)));
            Interlocked.Increment(ref _open);
            Produce(_replies, topic, message);
        }

        /// <summary>Events are sent from here on, which is one span however many there are.</summary>
        public void BeginEvents(int count)
        {
            if (count > 0)
            {
                Note(KafkaTracing.StartSend(Topics.Events, count));
            }
        }

        public Task AllSent()
        {
            Close();
            if (_spans is not null)
            {
                _ = EndSpansAsync(_spans);
            }
            return _done.Task;
        }

        /// <summary>Ends a publication that could not be sent as a whole.</summary>
        public Task Failed(Exception failure)
        {
            End(failure);
            return _done.Task;
        }

        private void Produce(IProducer<string, byte[]> producer, string topic, Message<string, byte[]> message)
        {
            try
            {
                var since = MessagingMetrics.Now;
                producer.Produce(topic, message, report =>
                {
                    MessagingMetrics.Sent(topic, since, report.Error.IsError ? report.Error.Code.ToString() : null);
                    Acknowledge(topic, message, report.Error);
                });
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
            else if (error.IsFatal || cancellationToken.IsCancellationRequested || topic == Topics.Events)
            {
                // Sent again it would come behind newer events. The offsets of these commands are not committed; whoever
                // owns them next finds their receipts, and publishes their events in order.
                var failure = new KafkaException(error);
                if (topic == Topics.Events)
                {
                    publisher._failure = failure;
                }
                End(failure);
            }
            else if (IsPermanent(error))
            {
                KafkaLog.ReplyDropped(publisher._logger, topic, error.Reason);
                Close();
            }
            else
            {
                KafkaLog.SendingAgain(publisher._logger, topic, error.Reason);
                _ = ProduceLaterAsync(topic, message);
            }
        }

        private async Task ProduceLaterAsync(string topic, Message<string, byte[]> message)
        {
            try
            {
                await Task.Delay(RetryDelay, publisher._time, cancellationToken);
                Produce(publisher._producers.Gathering, topic, message);
            }
            catch (Exception e)
            {
                // The producer is disposed of, since the process ends, or the caller has given up.
                End(e);
            }
        }

        // The proxy is gone and nobody waits, or no broker will ever take the record.
        private static bool IsPermanent(Confluent.Kafka.Error error) => error.IsUnknownTopic() || error.IsTooLarge()
            || error.Code is ErrorCode.TopicException or ErrorCode.TopicAuthorizationFailed;

        private Activity? Note(Activity? span)
        {
            if (span is not null)
            {
                (_spans ??= []).Add(span);
            }
            return span;
        }

        private async Task EndSpansAsync(List<Activity> spans)
        {
            await _done.Task.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            foreach (var span in spans)
            {
                Tracing.End(span, _done.Task.IsFaulted ? "publishing_failed" : null);
            }
        }

        private void Close()
        {
            if (Interlocked.Decrement(ref _open) == 0)
            {
                End(failure: null);
            }
        }

        private void End(Exception? failure)
        {
            if (failure is null ? _done.TrySetResult() : _done.TrySetException(failure))
            {
                publisher._producers.End();
            }
        }
    }
}
