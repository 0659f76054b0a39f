using System.Threading.Channels;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Backends.Balances;

/// <summary>Answers requests of one kind from the event store, several at a time, so that a long one holds up neither
/// requests of other kinds nor all of its own. An answer is read from the database that holds the account.</summary>
internal sealed partial class StoredReads(
    Command.RequestOneofCase kind, Func<int, Command, CancellationToken, Task<Reply>> read,
    int unsentMax, ShardMap map, Replier replier, EventStoreRetry retry, TimeProvider time, ILogger<StoredReads> logger)
    : IReadKind
{
    private const int ReadersMax = 4;

    private static readonly TimeSpan LongestRead = TimeSpan.FromHours(1);

    // A command has its place if it has waited for it.
    private readonly Channel<(Delivery Delivery, bool HasPlace)> _accepted =
        Channel.CreateUnbounded<(Delivery Delivery, bool HasPlace)>();

    private readonly UnsentAnswers _unsent = new(unsentMax);
    private readonly ShardedReader _reader = new(map);
    private readonly EventStoreRetry.Retries _retry = retry.Limited(
        (e, attempt) => Waiting(logger, attempt, e.Message));

    public Command.RequestOneofCase Field => kind;

    public void Accept(Delivery delivery) => _accepted.Writer.TryWrite((delivery, false));

    // None of the readers ends by itself: the first one to end was cancelled or has failed.
    public async Task RunAsync(CancellationToken stopping) =>
        await await Task.WhenAny(Enumerable.Range(0, ReadersMax).Select(_ => ReadAsync(stopping)));

    private async Task ReadAsync(CancellationToken cancellationToken)
    {
        while (await _accepted.Reader.WaitToReadAsync(cancellationToken))
        {
            // Another reader may have taken it.
            if (_accepted.Reader.TryRead(out var next) && (next.HasPlace || _unsent.TryEnter(next.Delivery)))
            {
                await AnswerAsync(next.Delivery, cancellationToken);
            }
        }
    }

    private async Task AnswerAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        var command = delivery.Command;
        if (ReadDeadline.HasPassed(delivery, time.Microseconds()))
        {
            Send(delivery, ReadDeadline.Reply(command));
            return;
        }
        using var deadline = Deadline(delivery);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
        try
        {
            var reply = await _retry.ExecuteAsync(
                token => _reader.ReadAsync(
                    CommandRoute.Of(command).StreamId, (database, use) => read(database, command, use), token),
                either.Token);
            reply.CorrelationId = command.CorrelationId;
            Send(delivery, reply);
        }
        catch (Exception) when (!cancellationToken.IsCancellationRequested && deadline.IsCancellationRequested)
        {
            // The deadline ends the read: nobody waits for it any longer, and the reader is needed for other requests.
            Send(delivery, ReadDeadline.Reply(command));
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested && EventStoreFailure.IsRetryable(e))
        {
            Send(delivery, Replies.StoreUnavailable(command.CorrelationId));
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            Failed(e, kind, CommandRoute.Of(command).StreamId);
            replier.Reject(delivery, "The account could not be read: " + e.Message, Replies.Error(
                command.CorrelationId, StatusCode.Internal, ErrorReasons.ProcessingFailed,
                "The account could not be read; the request is kept for the operators."));
            Leave(delivery);
        }
    }

    private void Send(Delivery delivery, Reply reply) => _ = LeaveWhenSentAsync(delivery, reply);

    private async Task LeaveWhenSentAsync(Delivery delivery, Reply reply)
    {
        await replier.PublishAsync(delivery, reply);
        Leave(delivery);
    }

    private void Leave(Delivery delivery)
    {
        if (_unsent.Leave(delivery) is { } next)
        {
            _accepted.Writer.TryWrite((next, true));
        }
    }

    private CancellationTokenSource Deadline(Delivery delivery)
    {
        var left = delivery.DeadlineUnixUs == 0
            ? Timeout.InfiniteTimeSpan
            : TimeSpan.FromMicroseconds(
                Math.Clamp(delivery.DeadlineUnixUs - time.Microseconds(), 1, (long)LongestRead.TotalMicroseconds));
        return new CancellationTokenSource(left, time);
    }

    [LoggerMessage(250, LogLevel.Warning, "An account could not be read, attempt {Attempt}: {Reason}")]
    private static partial void Waiting(ILogger logger, int attempt, string reason);

    [LoggerMessage(251, LogLevel.Error, "A request of the kind {Kind} about {StreamId} could not be answered")]
    private partial void Failed(Exception e, Command.RequestOneofCase kind, string streamId);
}
