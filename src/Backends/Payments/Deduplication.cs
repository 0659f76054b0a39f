using Billing.Backends.EventStore;
using Billing.Backends.Payments.InFlight;
using Billing.Backends.Telemetry;
using Billing.Hosting.Telemetry;
using Billing.Wire.V1;

namespace Billing.Backends.Payments;

/// <summary>Finds the commands that are recorded already, and answers questions about payments. Receipts that cannot be
/// read together are read in parts, down to each alone. Not thread-safe: one call at a time.</summary>
internal sealed partial class Deduplication(
    IAccountStore store, Ownership ownership, EventStoreRetry retry, ILogger<Deduplication> logger)
{
    private readonly EventStoreRetry.Retries _retry = retry.Together(EventStoreFailure.IsRetryable, (e, attempt) =>
    {
        BackendMetrics.Retried(store.Name);
        Waiting(logger, store.Name, attempt, e.Message);
    });

    /// <summary>The commands of the last call whose receipts the event store cannot read at present,
    /// although it can read others.</summary>
    public List<PendingCommand> Unreadable { get; } = [];

    /// <summary>Why the tables refuse some of those; null if something else keeps them from being read.</summary>
    public string? Refusal { get; private set; }

    /// <summary>Gives a result to each command that has a receipt, and to each question, however long the event store
    /// is unavailable. Commands of partitions with another owner are abandoned, and those that cannot be processed
    /// rejected. All others are still to be recorded.</summary>
    public async Task DeduplicateAsync(List<PendingCommand> commands, CancellationToken cancellationToken)
    {
        using var span = Tracing.StartJoint("receipts", commands.Select(c => c.Processing));
        var since = BackendMetrics.Now;
        _retry.Begin();
        Unreadable.Clear();
        Refusal = null;
        await FindAsync(commands, cancellationToken);
        BackendMetrics.Took("receipts", since);
    }

    private async Task FindAsync(List<PendingCommand> commands, CancellationToken cancellationToken)
    {
        try
        {
            Apply(commands, await _retry.ExecuteAsync(token => TryFindAsync(commands, token), cancellationToken));
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested && commands.Count > 1)
        {
            ReceiptsUnreadable(e, commands.Count);
            foreach (var half in commands.Chunk((commands.Count + 1) / 2))
            {
                await FindAsync([.. half], cancellationToken);
            }
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            ReceiptUnreadable(e, commands[0].Id.TransactionId);
            if (EventStoreFailure.IsRetryable(e))
            {
                Unreadable.Add(commands[0]);
                Refusal = EventStoreFailure.RefusalOf(e) ?? Refusal;
                return;
            }
            commands[0].Reject("its receipt cannot be read: " + e.Message);
        }
    }

    private async Task<Dictionary<CommandId, Event>> TryFindAsync(
        List<PendingCommand> commands, CancellationToken cancellationToken)
    {
        try
        {
            var fence = await ownership.TakeOverAsync(Open(commands), isAgain: _retry.Attempts > 1, cancellationToken);
            return await store.FindReceiptsAsync(Open(commands).ConvertAll(c => c.Id), fence, cancellationToken);
        }
        catch (Exception e) when (EventStoreFailure.ShardsElsewhere(e) is { } shards)
        {
            ownership.GiveUp(commands, shards);
            throw;
        }
    }

    private static List<PendingCommand> Open(List<PendingCommand> commands) =>
        commands.Exists(c => c.IsDone) ? commands.FindAll(c => !c.IsDone) : commands;

    private static void Apply(List<PendingCommand> commands, Dictionary<CommandId, Event> receipts)
    {
        var found = 0;
        foreach (var command in Open(commands))
        {
            if (receipts.TryGetValue(command.Id, out var receipt))
            {
                command.Record(receipt);
                found++;
            }
            else if (command.IsStatusQuery)
            {
                command.RefuseAsUnknown();
            }
        }
        BackendMetrics.AnsweredFromReceipt(found);
    }

    [LoggerMessage(
        220, LogLevel.Warning, "Receipts could not be read from the database {Database}, attempt {Attempt}: {Reason}")]
    private static partial void Waiting(ILogger logger, string database, int attempt, string reason);

    [LoggerMessage(
        222, LogLevel.Error, "The receipts of {Count} commands cannot be read together; trying halves of them")]
    private partial void ReceiptsUnreadable(Exception e, int count);

    [LoggerMessage(223, LogLevel.Error, "The receipt of transaction {TransactionId} cannot be read")]
    private partial void ReceiptUnreadable(Exception e, Guid transactionId);
}
