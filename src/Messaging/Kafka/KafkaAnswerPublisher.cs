using System.Diagnostics;
using Billing.Hosting;
using Billing.Hosting.Telemetry;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.Messaging.Requests;
using Billing.Messaging.Telemetry;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>Publishes a backend's replies and events: the replies of a batch together, in one or a few records per
/// proxy, and each event in its own record. Owns the process's producers: one for what must arrive, events and dead
/// letters, however long that takes; and one for replies, which are of no use to a caller that has given up. So replies
/// that cannot be delivered delay the settlement of their commands for a limited time, and events not at all.</summary>
public sealed class KafkaAnswerPublisher : IAnswerPublisher, IReadyPart, IDisposable
{
    /// <summary>Approximate limit on the bytes of replies in one record: half of what brokers
    /// accept by default.</summary>
    internal const int ReplyBatchBytesMax = 500_000;

    private readonly IProducer<string, byte[]> _events;
    private readonly IProducer<string, byte[]> _replies;
    private readonly TurnSender<(Publication Publication, Message<string, byte[]> Message)> _eventTurns;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private volatile Exception? _failure;
    private bool _disposed;

    /// <summary>Creates the publisher.</summary>
    public KafkaAnswerPublisher(
        IOptions<KafkaOptions> options, Supervisor supervisor, TimeProvider time, ILogger<KafkaAnswerPublisher> logger)
        : this(
            // Without a timeout: an event that timed out and was sent again would arrive after newer events of its
            // account, and consumers of the topic, which drop events with old versions, would lose it.
            KafkaClients.Producer(
                options.Value.Producer("billing-backend", TimeSpan.Zero),
                nameof(KafkaAnswerPublisher), supervisor, logger),
            // A reply that the brokers have lost is not worth the process.
            KafkaClients.Producer(
                options.Value.Producer("billing-backend-replies", KafkaTimes.Reply, batches: false, idempotent: false),
                nameof(KafkaAnswerPublisher), supervisor, logger),
            time, logger)
    {
    }

    /// <summary>Creates the publisher with producers, which it then owns.</summary>
    internal KafkaAnswerPublisher(
        IProducer<string, byte[]> events, IProducer<string, byte[]> replies, TimeProvider time, ILogger logger)
    {
        (_events, _replies) = (events, replies);
        _eventTurns = new(
            static e => e.Publication.ProduceEvent(e.Message),
            static e => e.Message.Value.Length + e.Message.Key.Length, time);
        _time = time;
        _logger = logger;
        DeadLetters = new DeadLetterPublisher(events, time, logger);
    }

    /// <summary>Publishes the records that cannot be processed.</summary>
    public DeadLetterPublisher DeadLetters { get; }

    /// <inheritdoc/>
    public string? NotReadyReason => DeadLetters.NotReadyReason;

    /// <inheritdoc/>
    public Task PublishAsync(
        IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken)
    {
        var publication = new Publication(this, cancellationToken);
        publication.SendEvents(events);
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
                publication.SendReplies(topic, open.Batch);
                open = (new ReplyBatch(), 0);
            }
            open.Batch.Replies.Add(reply);
            batches[topic] = (open.Batch, open.Bytes + bytes);
        }
        foreach (var (topic, (batch, _)) in batches)
        {
            publication.SendReplies(topic, batch);
        }
        return publication.AllSent();
    }

    /// <inheritdoc/>
    public Task SendAsync(Command command)
    {
        var route = CommandRoute.Of(command);
        var sent = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        // Given up like a reply: whoever sends it sends another one later.
        Publication.Produce(
            _replies, Topics.Of(route),
            new Message<string, byte[]>
            {
                Key = route.AccountId,
                Value = command.ToByteArray(),
                Headers = WireHeaders.Version,
            },
            error =>
            {
                if (error.IsError)
                {
                    sent.TrySetException(new KafkaException(error));
                }
                else
                {
                    sent.TrySetResult();
                }
            });
        return sent.Task;
    }

    /// <summary>Sends the remaining records, within a time limit. Idempotent, because more than one service
    /// registration may dispose of this object.</summary>
    public void Dispose()
    {
        if (_disposed)
        {
            return;
        }
        _disposed = true;
        _replies.Flush(KafkaTimes.Flush);
        _events.Flush(KafkaTimes.Flush);
        _replies.Dispose();
        _events.Dispose();
    }

    /// <summary>The records of one call and the count of those not yet acknowledged.</summary>
    private sealed class Publication(KafkaAnswerPublisher publisher, CancellationToken cancellationToken)
    {
        private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

        // One more than the number of records in flight, until AllSent: an early acknowledgement must not end the wait.
        private int _open = 1;

        // The spans of the records in flight; most publications have none.
        private List<Activity>? _spans;

        /// <summary>Sends events when those before them are acknowledged, with a single span for all.</summary>
        public void SendEvents(IReadOnlyList<Event> events)
        {
            if (events.Count > 0)
            {
                Note(KafkaTracing.StartSend(Topics.Events, events.Count));
                Interlocked.Add(ref _open, events.Count);
                publisher._eventTurns.Send(events.Select(fact => (
                    this, new Message<string, byte[]>
                    {
                        Key = fact.StreamId,
                        Value = fact.ToByteArray(),
                        Headers = WireHeaders.Version,
                    })));
            }
        }

        public void SendReplies(string topic, ReplyBatch batch)
        {
            Interlocked.Increment(ref _open);
            ProduceReplies(topic, new Message<string, byte[]>
            {
                Value = batch.ToByteArray(),
                Headers = WireHeaders.For(Note(KafkaTracing.StartSend(topic))),
            }, publisher._time.GetTimestamp());
        }

        /// <summary>Completes when all records are acknowledged.</summary>
        public Task AllSent()
        {
            Close();
            if (_spans is not null)
            {
                _ = EndSpansAsync(_spans);
            }
            return _done.Task;
        }

        public void ProduceEvent(Message<string, byte[]> message)
        {
            if (publisher._failure is { } failure)
            {
                // Events published after a failed one would arrive before it.
                publisher._eventTurns.End();
                End(failure);
                return;
            }
            Produce(publisher._events, Topics.Events, message, AcknowledgeEvent);
        }

        private void AcknowledgeEvent(Confluent.Kafka.Error error)
        {
            if (error.IsError)
            {
                // Sent again, the event would arrive after newer ones. The offsets of these commands are not committed;
                // the next owner of their partitions finds the receipts and publishes the events in order.
                var failure = new KafkaException(
                    new Confluent.Kafka.Error(error.Code, $"{Topics.Events}: {error.Explained()}", error.IsFatal));
                publisher._failure = failure;
                End(failure);
            }
            else
            {
                Close();
            }
            publisher._eventTurns.End();
        }

        private void ProduceReplies(string topic, Message<string, byte[]> message, long since) =>
            Produce(publisher._replies, topic, message, error => AcknowledgeReplies(topic, message, since, error));

        private void AcknowledgeReplies(
            string topic, Message<string, byte[]> message, long since, Confluent.Kafka.Error error)
        {
            if (!error.IsError)
            {
                Close();
            }
            else if (error.IsFatal || cancellationToken.IsCancellationRequested)
            {
                End(new KafkaException(error));
            }
            else if (IsPermanent(error) || publisher._time.GetElapsedTime(since) >= KafkaTimes.Reply)
            {
                KafkaLog.ReplyDropped(publisher._logger, topic, error.Explained());
                Close();
            }
            else
            {
                KafkaLog.SendingAgain(publisher._logger, topic, error.Reason);
                _ = ProduceLaterAsync(topic, message, since);
            }
        }

        public static void Produce(
            IProducer<string, byte[]> producer, string topic,
            Message<string, byte[]> message, Action<Confluent.Kafka.Error> acknowledge)
        {
            try
            {
                var since = MessagingMetrics.Now;
                producer.Produce(topic, message, report =>
                {
                    MessagingMetrics.Sent(topic, since, report.Error.IsError ? report.Error.Code.ToString() : null);
                    acknowledge(report.Error);
                });
            }
            catch (ProduceException<string, byte[]> e)
            {
                acknowledge(e.Error);
            }
        }

        private async Task ProduceLaterAsync(string topic, Message<string, byte[]> message, long since)
        {
            try
            {
                await Task.Delay(KafkaTimes.SendAgain, publisher._time, cancellationToken);
                ProduceReplies(topic, message, since);
            }
            catch (Exception e)
            {
                // The producer is disposed of because the process ends, or the caller has cancelled.
                End(e);
            }
        }

        // The proxy's topic does not exist any more, or cannot be written to, so no call waits;
        // or the brokers will never accept the record.
        private static bool IsPermanent(Confluent.Kafka.Error error) => error.IsUnknownTopic() || error.IsTooLarge()
            || error.Code is ErrorCode.Local_MsgTimedOut or ErrorCode.InvalidTimestamp or ErrorCode.TopicException
                or ErrorCode.TopicAuthorizationFailed;

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
            if (failure is null)
            {
                _done.TrySetResult();
            }
            else
            {
                _done.TrySetException(failure);
            }
        }
    }
}
