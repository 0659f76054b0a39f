using System.Threading.Channels;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;
using Polly;

namespace Billing.Backends.Balances;

/// <summary>Answers requests for statements beside the balance checks, so that a long one holds up neither these nor, up to
/// a few at a time, other statements.</summary>
internal sealed partial class StatementProcessor(
    StatementReader reader, AnswerSettler settler, TimeProvider time, ILogger logger)
{
    private const int ReadersMax = 4;

    private readonly Channel<Delivery> _accepted = Channel.CreateUnbounded<Delivery>();
    private readonly ResiliencePipeline _retry =
        EventStoreRetry.Briefly(time, (e, attempt) => Waiting(logger, attempt, e.Message));

    /// <summary>Takes a request.</summary>
    public void Accept(Delivery delivery) => _accepted.Writer.TryWrite(delivery);

    /// <summary>Answers until it is cancelled.</summary>
    public Task RunAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(Enumerable.Range(0, ReadersMax).Select(_ => ReadAsync(cancellationToken)));

    private async Task ReadAsync(CancellationToken cancellationToken)
    {
        await foreach (var delivery in _accepted.Reader.ReadAllAsync(cancellationToken))
        {
            await AnswerAsync(delivery, cancellationToken);
        }
    }

    private async Task AnswerAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        var command = delivery.Command;
        if (Expiry.IsExpired(command, time.Microseconds()))
        {
            settler.Settle([(delivery, Expiry.Reply(command))], []);
            return;
        }
        try
        {
            var page = await _retry.ExecuteAsync(
                async token => await reader.ReadAsync(command.Statement, token), cancellationToken);
            settler.Settle([(delivery, new Reply { CorrelationId = command.CorrelationId, Statement = page })], []);
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested && EventStoreRetry.IsAway(e))
        {
            settler.Settle([(delivery, Replies.StoreUnreadable(command.CorrelationId))], []);
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            Failed(logger, e, CommandRoute.Of(command).StreamId);
            var reason = "The statement could not be read: " + e.Message;
            settler.Reject(delivery, reason, Replies.Error(
                command.CorrelationId, StatusCode.Internal, ErrorReasons.ProcessingFailed, reason));
        }
    }

    [LoggerMessage(250, LogLevel.Warning, "A statement could not be read, attempt {Attempt}: {Reason}")]
    private static partial void Waiting(ILogger logger, int attempt, string reason);

    [LoggerMessage(251, LogLevel.Error, "The statement of {StreamId} could not be read")]
    private static partial void Failed(ILogger logger, Exception e, string streamId);
}
