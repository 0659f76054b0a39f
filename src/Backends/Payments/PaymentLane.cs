using System.Collections.Concurrent;
using System.Threading.Channels;
using Billing.Backends.EventStore;
using Billing.Backends.Telemetry;
using Billing.Hosting.Telemetry;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Payments;

/// <summary>What a lane leaves to the processor of which it is a part.</summary>
internal interface ICommandFlow
{
    /// <summary>Starts the card-network call of a command that is not recorded yet.</summary>
    /// <returns>Whether the command is authorised already; otherwise it comes back when it is.</returns>
    bool Authorise(PendingCommand command, CancellationToken cancellationToken);

    /// <summary>Answers commands that have their result.</summary>
    /// <returns>The commands that still have to be recorded or answered, because they were requested again meanwhile.</returns>
    List<PendingCommand> Answer(List<PendingCommand> done);

    /// <summary>Whether earlier commands of a command's shard have been returned by the lane since it got this one, which must not overtake them: the
    /// shard may be back in the database by now.</summary>
    bool HasLeft(PaymentLane lane, PendingCommand command);

    /// <summary>Takes commands back whose accounts are in another database.</summary>
    void Return(PaymentLane lane, List<PendingCommand> misplaced);
}

/// <summary>The part of the write side that records commands in one database, so that a database that is away holds up no others. A
/// single loop works in turns; each turn takes whatever has accumulated during the previous one, so batches grow with the load, and the
/// fixed cost of a batch is shared by more payments. The steps of a turn are the methods in this order: deduplicate, record. A step that
/// fails for several commands together is tried for parts of them, down to each alone. A command that fails alone as well goes to the dead
/// letters; if the event store is at fault, it is set aside and tried again.</summary>
internal sealed partial class PaymentLane(
    IAccountStore store, PaymentRecorder recorder, EventStoreRetry retry, IOptions<BackendOptions> options, TimeProvider time,
    ILogger<PaymentLane> logger)
{
    // A try holds up the others, for less than a tenth of a second.
    private static readonly TimeSpan SetAsideInterval = TimeSpan.FromSeconds(2);

    private readonly Channel<IReadOnlyList<PendingCommand>> _accepted =
        Channel.CreateUnbounded<IReadOnlyList<PendingCommand>>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Channel<PendingCommand> _authorised =
        Channel.CreateUnbounded<PendingCommand>(new UnboundedChannelOptions { SingleReader = true });

    // Authorised commands that were set aside or have come back from another lane, which are older than all of their accounts in the queue.
    private readonly Queue<PendingCommand> _again = [];

    // Written to after every write to either queue; an item in it wakes the loop, which then drains both.
    private readonly Channel<bool> _work = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { SingleReader = true, FullMode = BoundedChannelFullMode.DropWrite });

    private readonly ConcurrentQueue<TaskCompletionSource> _awaited = new();
    private readonly int _batchMax = options.Value.BatchMax;
    private readonly EventStoreRetry.Retries _retry = retry.Together(store, EventStoreFailure.IsRetryable, (e, attempt) =>
    {
        BackendMetrics.Retried(store.Name);
        Waiting(logger, store.Name, attempt, e.Message);
    });

    private long _triedSetAside;
    private volatile string? _notReadyReason;

    /// <summary>The commands that the database cannot record at present although it records others.</summary>
    public CommandsSetAside SetAsideCommands { get; } = new();

    /// <summary>How long the pending access to the database has taken.</summary>
    public StoreAccess Access { get; } = new(time, options.Value.StoreUnavailableMax, store.Name);

    /// <summary>Why the database cannot be relied on; null if it can.</summary>
    public string? NotReadyReason => Access.NotReadyReason ?? _notReadyReason;

    /// <summary>Takes commands of shards that the database is known to hold.</summary>
    public void Accept(IReadOnlyList<PendingCommand> commands)
    {
        if (commands.Count == 0)
        {
            return;
        }
        _accepted.Writer.TryWrite(commands);
        Wake();
    }

    /// <summary>Takes a command that was authorised meanwhile.</summary>
    public void AcceptAuthorised(PendingCommand command)
    {
        _authorised.Writer.TryWrite(command);
        Wake();
    }

    /// <summary>Has the loop take another turn, whether or not there are commands.</summary>
    public void Wake() => _work.Writer.TryWrite(true);

    /// <summary>Completes when every command that the lane has now is answered, returned, set aside or being authorised.</summary>
    public Task DrainAsync()
    {
        var drained = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _awaited.Enqueue(drained);
        Wake();
        return drained.Task;
    }

    /// <summary>Takes turns.</summary>
    public async Task RunAsync(ICommandFlow flow, CancellationToken cancellationToken)
    {
        while (await _work.Reader.WaitToReadAsync(cancellationToken))
        {
            _work.Reader.TryRead(out _);
            var awaited = _awaited.IsEmpty ? [] : _awaited.ToArray();
            var fresh = new List<PendingCommand>();
            while (_accepted.Reader.TryRead(out var commands))
            {
                fresh.AddRange(commands);
            }
            _retry.Begin();
            await DeduplicateAsync(flow, fresh, cancellationToken);
            await RecordAsync(flow, cancellationToken);
            await TrySetAsideAsync(flow, cancellationToken);
            _notReadyReason = SetAsideCommands.Refusal is { } refusal ? $"the database {store.Name} of the event store refuses what is to be recorded: {refusal}" : null;
            foreach (var drained in awaited)
            {
                _awaited.TryDequeue(out _);
                drained.SetResult();
            }
        }
    }

    private async Task TrySetAsideAsync(ICommandFlow flow, CancellationToken cancellationToken)
    {
        if (SetAsideCommands.IsEmpty || time.GetElapsedTime(_triedSetAside) < SetAsideInterval)
        {
            return;
        }
        _triedSetAside = time.GetTimestamp();
        // What kept the first of them from being recorded may be over for all.
        for (var (before, left) = (int.MaxValue, SetAsideCommands.Count); left > 0 && left < before; (before, left) = (left, SetAsideCommands.Count))
        {
            _retry.Begin();
            await DeduplicateAsync(flow, SetAsideCommands.Take(), cancellationToken);
            await RecordAsync(flow, cancellationToken);
        }
    }

    /// <summary>Answers commands that have a receipt, and questions about payments; the other commands are authorised.</summary>
    private async Task DeduplicateAsync(ICommandFlow flow, List<PendingCommand> commands, CancellationToken cancellationToken)
    {
        var fresh = SetAsideCommands.AddLater(commands);
        ReturnMisplaced(flow, fresh);
        if (fresh.Count == 0 || await ReceiptsAsync(flow, fresh, cancellationToken) is not { } receipts)
        {
            return;
        }
        var repeated = new List<PendingCommand>();
        ReturnMisplaced(flow, fresh);
        foreach (var command in fresh)
        {
            if (receipts.TryGetValue(command.Id, out var receipt))
            {
                command.Record(receipt);
                repeated.Add(command);
            }
            else if (command.IsStatusQuery)
            {
                if (!command.IsDone)
                {
                    command.RefuseAsUnknown();
                }
                repeated.Add(command);
            }
            else if (command.IsAuthorised)
            {
                _again.Enqueue(command);
            }
            else if (flow.Authorise(command, cancellationToken))
            {
                _authorised.Writer.TryWrite(command);
            }
        }
        BackendMetrics.AnsweredFromReceipt(repeated.Count);
        Accept(flow.Answer(repeated));
    }

    /// <summary>The receipts of commands; null if they could not be read for all together, in which case the commands have been
    /// handled in parts.</summary>
    private async Task<Dictionary<CommandId, Event>?> ReceiptsAsync(
        ICommandFlow flow, List<PendingCommand> fresh, CancellationToken cancellationToken)
    {
        using var span = Tracing.StartJoint("receipts", fresh.Select(c => c.Processing));
        var since = BackendMetrics.Now;
        Access.Begin();
        try
        {
            var receipts = await _retry.ExecuteAsync(token => FindReceiptsAsync(fresh, token), cancellationToken);
            BackendMetrics.Took("receipts", since);
            return receipts;
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested && fresh.Count > 1)
        {
            ReceiptsUnreadable(e, fresh.Count);
            foreach (var half in fresh.Chunk((fresh.Count + 1) / 2))
            {
                await DeduplicateAsync(flow, [.. half], cancellationToken);
            }
            return null;
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            ReceiptUnreadable(e, fresh[0].Id.TransactionId);
            if (EventStoreFailure.IsRetryable(e))
            {
                SetAside(flow, fresh, EventStoreFailure.RefusalOf(e));
                return null;
            }
            fresh[0].Reject("its receipt cannot be read: " + e.Message);
            flow.Answer(fresh);
            return null;
        }
        finally
        {
            Access.End();
        }
    }

    private async Task<Dictionary<CommandId, Event>> FindReceiptsAsync(List<PendingCommand> fresh, CancellationToken cancellationToken)
    {
        try
        {
            var fence = await recorder.TakeOverAsync(Open(fresh), isAgain: _retry.Attempts > 1, cancellationToken);
            return await store.FindReceiptsAsync(Open(fresh).ConvertAll(c => c.Id), fence, cancellationToken);
        }
        catch (Exception e) when (EventStoreFailure.Elsewhere(e) is { } shards)
        {
            PendingCommand.Misplace(fresh, shards);
            throw;
        }
    }

    private static List<PendingCommand> Open(List<PendingCommand> commands) =>
        commands.Exists(c => c.IsDone) ? commands.FindAll(c => !c.IsDone) : commands;

    /// <summary>Records the commands that are authorised by now, in transactions of up to the largest batch.</summary>
    private async Task RecordAsync(ICommandFlow flow, CancellationToken cancellationToken)
    {
        while (_again.Count > 0 || _authorised.Reader.TryPeek(out _))
        {
            var batch = new List<PendingCommand>();
            while (batch.Count < _batchMax && (_again.TryDequeue(out var command) || _authorised.Reader.TryRead(out command)))
            {
                command.IsAuthorised = true;
                batch.Add(command);
            }
            ReturnMisplaced(flow, batch);
            for (batch = SetAsideCommands.AddLater(batch); batch.Count > 0; batch = SetAsideCommands.AddLater(batch))
            {
                Access.Begin();
                await recorder.RecordAsync(batch, cancellationToken);
                Access.End();
                ReturnMisplaced(flow, batch);
                SetAsideNotRecordable(flow, batch);
                // Repeats of expired commands arrived before the unrecorded commands of the same account, so they are recorded
                // first. If versions were in a different order than commands, events that have to be published again would be
                // out of order too.
                batch = flow.Answer(batch);
            }
        }
    }

    private void SetAsideNotRecordable(ICommandFlow flow, List<PendingCommand> batch)
    {
        if (recorder.NotRecordable.Count > 0)
        {
            batch.RemoveAll(c => !c.IsDone);
            SetAside(flow, recorder.NotRecordable, recorder.Refusal);
        }
    }

    /// <summary>Sets commands aside, but leaves those of other owners to them: they may never be readable here.</summary>
    private void SetAside(ICommandFlow flow, List<PendingCommand> commands, string? refusal)
    {
        // Asked once of each: an assignment may end meanwhile, and a delivery under a present one may join.
        var of = commands.ToLookup(c => c.Assignment.IsOver);
        SetAsideCommands.Add(of[false], refusal);
        var others = of[true].ToList();
        others.ForEach(c => c.Abandon());
        Accept(flow.Answer(others));
    }

    private void ReturnMisplaced(ICommandFlow flow, List<PendingCommand> commands)
    {
        foreach (var command in commands.Where(c => !c.IsDone && flow.HasLeft(this, c)))
        {
            command.Misplace();
        }
        if (commands.Exists(c => c.Result is CommandResult.Misplaced))
        {
            var misplaced = commands.FindAll(c => c.Result is CommandResult.Misplaced);
            commands.RemoveAll(c => c.Result is CommandResult.Misplaced);
            flow.Return(this, misplaced);
        }
    }

    [LoggerMessage(220, LogLevel.Warning, "Receipts could not be read from the database {Database}, attempt {Attempt}: {Reason}")]
    private static partial void Waiting(ILogger logger, string database, int attempt, string reason);

    [LoggerMessage(222, LogLevel.Error, "The receipts of {Count} commands cannot be read together; trying halves of them")]
    private partial void ReceiptsUnreadable(Exception e, int count);

    [LoggerMessage(223, LogLevel.Error, "The receipt of transaction {TransactionId} cannot be read")]
    private partial void ReceiptUnreadable(Exception e, Guid transactionId);
}
