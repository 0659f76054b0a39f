using Billing.Hosting;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Confluent.Kafka;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Billing.Messaging.Kafka;

/// <summary>The proxy's side of the Kafka transport: publishes commands to the topic of their payment type and
/// kind of request, and completes the waiting calls from this proxy's own reply topic. If that topic is deleted it
/// is created again.</summary>
public sealed class KafkaRequestTransport : IHostedService, IRequestTransport, IDisposable
{
    private static readonly TimeSpan RestoreInterval = TimeSpan.FromSeconds(1);

    private readonly KafkaTopics _topics;
    private readonly ILogger<KafkaRequestTransport> _logger;
    private readonly ProducerPair _producers;
    private readonly CommandPublisher _commands;
    private readonly ReplyConsumer _replies;
    private readonly string _replyTopic;
    private readonly Supervisor _supervisor;
    private readonly TimeProvider _time;
    private readonly TimeSpan _startTimeout;
    private readonly ITimer _heartbeat;

    // Not disposed, which would fail those who still look at it.
    private readonly CancellationTokenSource _stopping = new();
    private readonly Lock _heartbeats = new();
    private int _restoring;

    /// <summary>Creates the transport; nothing is sent before <see cref="StartAsync"/>.</summary>
    public KafkaRequestTransport(
        IOptions<KafkaOptions> options, KafkaTopics topics, PendingReplies pending, Supervisor supervisor,
        TimeProvider time, ILogger<KafkaRequestTransport> logger)
    {
        _topics = topics;
        _supervisor = supervisor;
        _time = time;
        _startTimeout = options.Value.StartTimeout;
        _logger = logger;
        var id = ProxyId.Create(time);
        _replyTopic = ProxyId.ReplyTopic(options.Value.ProxyName, id);
        // A command that no broker has acknowledged by then has failed, and its caller is told so.
        _producers = ProducerPair.Build(
            options.Value, "billing-proxy-" + id, CommandDeadline.SendingMax,
            nameof(KafkaRequestTransport), supervisor, logger);
        _commands = new CommandPublisher(_producers, pending, _replyTopic);
        _replies = new ReplyConsumer(
            options.Value, _replyTopic, new ReplyReader(pending, logger), supervisor, time, logger)
        {
            TopicGone = RestoreReplyTopic,
        };
        _heartbeat = time.CreateTimer(_ => SendHeartbeat(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>The topic on which this proxy receives its replies.</summary>
    public string ReplyTopic => _replyTopic;

    /// <summary>Creates the missing topics and starts to read replies. Completes when the proxy has received its
    /// own first heartbeat, because the first callers would have to wait if the proxy accepted calls before it
    /// can receive replies.</summary>
    /// <exception cref="StartupException">No broker answers, or the heartbeat is not received in time.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await _topics.EnsureSharedAsync();
        await _topics.CreateReplyTopicAsync(_replyTopic);
        await _replies.StartAsync(cancellationToken);
        _heartbeat.Change(TimeSpan.Zero, KafkaTimes.ReplyTopicHeartbeat);
        await WaitForReplyConsumerAsync(cancellationToken);
        await _topics.SweepReplyTopicsAsync();
    }

    /// <inheritdoc/>
    public TransportDescription Description => _commands.Description;

    /// <inheritdoc/>
    public Task<Reply> SendAsync(Request request, Action<int>? stored = null) => _commands.SendAsync(request, stored);

    /// <summary>Stops reading replies and deletes the reply topic. The host stops the server before, so no
    /// caller waits any more.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        await _heartbeat.DisposeAsync();
        await Task.Run(() => _producers.Flush(KafkaTimes.Flush), CancellationToken.None);
        await _replies.StopAsync(cancellationToken);
        await _topics.DeleteReplyTopicAsync(_replyTopic);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        // A start that failed was not stopped: a heartbeat may be due, or the reply topic about to be created again.
        _stopping.Cancel();
        _heartbeat.Dispose();
        _replies.Dispose();
        lock (_heartbeats)
        {
            _producers.Dispose();
        }
    }

    private async Task WaitForReplyConsumerAsync(CancellationToken cancellationToken)
    {
        try
        {
            await _replies.Reading.WaitAsync(_startTimeout, _time, cancellationToken);
        }
        catch (TimeoutException e)
        {
            throw new StartupException(
                $"The proxy did not receive its own heartbeat on the reply topic {_replyTopic} within "
                    + $"{_startTimeout.TotalSeconds:0.#} s (Billing:Kafka:StartTimeout).", e);
        }
    }

    private void SendHeartbeat()
    {
        try
        {
            // The client library aborts the process if a producer is used while it is disposed.
            lock (_heartbeats)
            {
                if (!_stopping.IsCancellationRequested)
                {
                    _producers.Batching.Produce(_replyTopic, new Message<string, byte[]> { Value = [] }, report =>
                    {
                        if (report.Error.IsUnknownTopic())
                        {
                            RestoreReplyTopic();
                        }
                    });
                }
            }
        }
        catch (KafkaException e)
        {
            // For example, the queue of unsent records is full. The next heartbeat follows in a minute.
            KafkaLog.ClientError(_logger, "A heartbeat could not be sent: " + e.Error.Reason);
        }
    }

    private void RestoreReplyTopic()
    {
        if (!_stopping.IsCancellationRequested && Interlocked.Exchange(ref _restoring, 1) == 0)
        {
            KafkaLog.ReplyTopicGone(_logger, _replyTopic);
            _supervisor.Watch("Creating the reply topic again", RestoreReplyTopicAsync());
        }
    }

    private async Task RestoreReplyTopicAsync()
    {
        try
        {
            // While the old topic is still being deleted, a new one of the same name cannot be created.
            await Task.Delay(RestoreInterval, _time, _stopping.Token);
            await _topics.CreateReplyTopicAsync(_replyTopic);
            _replies.StartAgain();
            SendHeartbeat();
        }
        catch (StartupException e)
        {
            // The consumer reports the missing topic again, which starts the next attempt.
            KafkaLog.ClientError(_logger, e.Message);
        }
        finally
        {
            Volatile.Write(ref _restoring, 0);
        }
    }
}
