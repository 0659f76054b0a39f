using System.Diagnostics;
using System.Text;
using Billing.Contracts;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>The proxy's side of the Kafka transport: publishes commands to the topic of their payment type and request,
/// and completes the waiting calls from this proxy's own reply topic.</summary>
public sealed class KafkaRequestTransport : IHostedService, IRequestTransport, IDisposable
{
    private static readonly TimeSpan FlushTimeout = TimeSpan.FromSeconds(5);

    private readonly KafkaTopics _topics;
    private readonly ILogger<KafkaRequestTransport> _logger;
    private readonly IProducer<string, byte[]> _producer;
    private readonly ReplyConsumer _replies;
    private readonly PendingReplies _pending;
    private readonly string _replyTopic;
    private readonly TimeProvider _time;
    private readonly TimeSpan _startTimeout;
    private readonly ITimer _heartbeat;

    /// <summary>Creates the transport; nothing is sent before <see cref="StartAsync"/>.</summary>
    public KafkaRequestTransport(
        IOptions<KafkaOptions> options, KafkaTopics topics, PendingReplies pending, IHostApplicationLifetime lifetime,
        TimeProvider time, ILogger<KafkaRequestTransport> logger)
    {
        _topics = topics;
        _time = time;
        _startTimeout = options.Value.StartTimeout;
        _pending = pending;
        _logger = logger;
        var id = ProxyId.Create(time);
        _replyTopic = Topics.Replies(id);
        // A command that has not reached a broker after half a minute has outlived its caller.
        _producer = new ProducerBuilder<string, byte[]>(options.Value.Producer("billing-proxy-" + id, TimeSpan.FromSeconds(30)))
            .SetErrorHandler((_, e) => StopIfFatal(e, lifetime))
            .SetLogHandler((_, m) => KafkaLog.ClientLog(logger, m.Facility, m.Message))
            .Build();
        _replies = new ReplyConsumer(options.Value, _replyTopic, pending, logger);
        _heartbeat = time.CreateTimer(_ => Beat(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Makes the topics that are missing and starts to read replies. Returns when the first heartbeat has come
    /// back: a proxy that took calls before it could hear the answers would keep its first callers waiting.</summary>
    /// <exception cref="Hosting.StartupException">No broker answers.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await _topics.EnsureSharedAsync();
        await _topics.CreateReplyTopicAsync(_replyTopic);
        _replies.Start();
        _heartbeat.Change(TimeSpan.Zero, KafkaTopics.HeartbeatInterval);
        await HearAsync(cancellationToken);
        await _topics.SweepReplyTopicsAsync();
    }

    /// <inheritdoc/>
    public Task<Reply> SendAsync(Command command, CancellationToken cancellationToken)
    {
        command.ProxyTopic = _replyTopic;
        var reply = _pending.Register(command, cancellationToken);
        var route = CommandRoute.Of(command);
        var topic = route.Topic;
        var correlationId = command.CorrelationId;
        var message = new Message<string, byte[]> { Key = route.AccountId, Value = command.ToByteArray(), Headers = Headers() };
        try
        {
            _producer.Produce(topic, message, report =>
            {
                if (report.Error.IsError)
                {
                    Refuse(correlationId, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable,
                        $"The command could not be published to {report.Topic}: {report.Error.Reason}");
                }
            });
        }
        catch (ProduceException<string, byte[]> e) when (e.Error.Code == ErrorCode.Local_QueueFull)
        {
            Refuse(correlationId, StatusCode.ResourceExhausted, ErrorReasons.TooManyInFlight,
                "The proxy's queue of unsent commands is full.");
        }
        catch (KafkaException e)
        {
            Refuse(correlationId, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable,
                $"The command could not be published to {topic}: {e.Error.Reason}");
        }
        return reply;
    }

    /// <summary>Stops reading replies and deletes the reply topic. The host stops the server first, so nobody waits any
    /// more.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _heartbeat.DisposeAsync();
        await Task.Run(() => _producer.Flush(FlushTimeout), CancellationToken.None);
        await _replies.StopAsync();
        await _topics.DeleteReplyTopicAsync(_replyTopic);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _heartbeat.Dispose();
        _replies.Dispose();
        _producer.Dispose();
    }

    private async Task HearAsync(CancellationToken cancellationToken)
    {
        try
        {
            await _replies.Reading.WaitAsync(_startTimeout, _time, cancellationToken);
        }
        catch (TimeoutException e)
        {
            throw new Hosting.StartupException(
                $"What is written to the reply topic {_replyTopic} does not come back within {_startTimeout.TotalSeconds:0.#} s (Billing:Kafka:StartTimeout).", e);
        }
    }

    private static Headers Headers()
    {
        var headers = new Headers { { WireFormat.VersionHeader, WireFormat.VersionBytes.ToArray() } };
        if (Activity.Current is { IdFormat: ActivityIdFormat.W3C, Id: { } traceParent })
        {
            headers.Add(WireFormat.TraceParentHeader, Encoding.ASCII.GetBytes(traceParent));
        }
        return headers;
    }

    private void Refuse(ulong correlationId, StatusCode status, string reason, string message) =>
        _pending.Complete(Replies.Error(correlationId, status, reason, message));

    private void Beat() => _producer.Produce(_replyTopic, new Message<string, byte[]> { Value = [] });

    private void StopIfFatal(Confluent.Kafka.Error error, IHostApplicationLifetime lifetime)
    {
        KafkaLog.Error(_logger, error);
        if (error.IsFatal)
        {
            lifetime.StopApplication();
        }
    }
}
