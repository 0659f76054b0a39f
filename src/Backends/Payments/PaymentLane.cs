using System.Threading.Channels;
using Billing.Backends.EventStore;
using Billing.Backends.Payments.InFlight;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Payments;

/// <summary>The part of the write side that records commands in one database, so that a database that is away holds up
/// no others. A single loop works in turns; each turn takes whatever has accumulated during the previous one, so
/// batches grow with the load, and the fixed cost of a batch is shared by more payments. A turn deduplicates commands,
/// has the others authorised, records those that are, and answers what has its end. A step that fails for several
/// commands together is tried for parts of them, down to each alone. A command that fails alone as well goes to the
/// dead letters; if the event store is at fault, it is set aside and tried again.</summary>
internal sealed class PaymentLane(
    IAccountStore store, Deduplication deduplication, Authorisation authorisation, PaymentRecorder recorder,
    Answering answering, IOptions<BackendOptions> options, TimeProvider time)
{
    // A try holds up the others, for less than a tenth of a second.
    private static readonly TimeSpan SetAsideInterval = TimeSpan.FromSeconds(2);

    private readonly Channel<IReadOnlyList<PendingCommand>> _accepted =
        Channel.CreateUnbounded<IReadOnlyList<PendingCommand>>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Channel<PendingCommand> _authorised =
        Channel.CreateUnbounded<PendingCommand>(new UnboundedChannelOptions { SingleReader = true });

    // Written to after every write to either queue; an item in it wakes the loop, which then drains both.
    private readonly Channel<bool> _work = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { SingleReader = true, FullMode = BoundedChannelFullMode.DropWrite });

    // The most bytes of the commands of a batch, but for the last of them: the batch's parameters are several times as
    // much memory. A batch of usual commands has a tenth of it.
    private const int BatchBytesMax = 4 << 20;

    private readonly int _batchMax = options.Value.BatchMax;
    private long _triedSetAside;
    private volatile string? _notReadyReason;

    /// <summary>The commands that the database cannot record at present although it records others.</summary>
    public CommandsSetAside SetAsideCommands { get; } = new();

    /// <summary>How long the pending access to the database has taken.</summary>
    public StoreWait Wait { get; } = new(time, options.Value.StoreUnavailableMax, store.Name);

    /// <summary>Why the database cannot be relied on; null if it can.</summary>
    public string? NotReadyReason => Wait.NotReadyReason ?? _notReadyReason;

    // One delegate for all commands.
    private Action<PendingCommand> Next => field ??= Authorised;

    /// <summary>Takes commands of shards that the database is known to hold.</summary>
    public void Accept(IReadOnlyList<PendingCommand> commands)
    {
        if (commands.Count > 0)
        {
            _accepted.Writer.TryWrite(commands);
            Wake();
        }
    }

    /// <summary>Has the loop take another turn, whether or not there are commands.</summary>
    public void Wake() => _work.Writer.TryWrite(true);

    /// <summary>Takes turns.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        while (await _work.Reader.WaitToReadAsync(cancellationToken))
        {
            _work.Reader.TryRead(out _);
            var fresh = new List<PendingCommand>();
            while (_accepted.Reader.TryRead(out var commands))
            {
                fresh.AddRange(commands);
            }
            await RunTurnAsync(SetAsideCommands.AddLater(fresh), cancellationToken);
            await TrySetAsideAsync(cancellationToken);
            _notReadyReason = SetAsideCommands.Refusal is { } refusal
                ? $"the database {store.Name} of the event store refuses what is to be recorded: {refusal}"
                : null;
        }
    }

    private async Task RunTurnAsync(List<PendingCommand> fresh, CancellationToken cancellationToken)
    {
        var again = fresh.Count == 0 ? fresh : await DeduplicateAsync(fresh, cancellationToken);
        await RecordAsync(new Queue<PendingCommand>(again), cancellationToken);
    }

    private async Task TrySetAsideAsync(CancellationToken cancellationToken)
    {
        if (SetAsideCommands.IsEmpty || time.GetElapsedTime(_triedSetAside) < SetAsideInterval)
        {
            return;
        }
        _triedSetAside = time.GetTimestamp();
        // What kept the first of them from being recorded may be over for all.
        for (var (before, left) = (int.MaxValue, SetAsideCommands.Count); left > 0
            && left < before; (before, left) = (left, SetAsideCommands.Count))
        {
            await RunTurnAsync(SetAsideCommands.Take(), cancellationToken);
        }
    }

    /// <summary>Answers the commands that are recorded already, and has the others authorised.</summary>
    /// <returns>The commands that were authorised before they were set aside. They are older than all others
    /// of their accounts.</returns>
    private async Task<List<PendingCommand>> DeduplicateAsync(
        List<PendingCommand> fresh, CancellationToken cancellationToken)
    {
        Wait.Begin();
        await deduplication.DeduplicateAsync(fresh, cancellationToken);
        Wait.End();
        var (ended, again) = (new List<PendingCommand>(), new List<PendingCommand>());
        foreach (var command in SetAside(fresh, deduplication.Unreadable, deduplication.Refusal))
        {
            if (command.IsDone)
            {
                ended.Add(command);
            }
            else if (command.IsAuthorised)
            {
                again.Add(command);
            }
            else
            {
                authorisation.Begin(command, Next, cancellationToken);
            }
        }
        Accept(Answer(ended));
        return again;
    }

    private void Authorised(PendingCommand command)
    {
        _authorised.Writer.TryWrite(command);
        Wake();
    }

    /// <summary>Records the given commands and those that are authorised by now, in transactions of up to
    /// the largest batch.</summary>
    private async Task RecordAsync(Queue<PendingCommand> again, CancellationToken cancellationToken)
    {
        while (again.Count > 0 || _authorised.Reader.TryPeek(out _))
        {
            var (batch, bytes) = (new List<PendingCommand>(), 0);
            while (batch.Count < _batchMax && bytes < BatchBytesMax
                && (again.TryDequeue(out var command) || _authorised.Reader.TryRead(out command)))
            {
                command.IsAuthorised = true;
                batch.Add(command);
                bytes += command.Bytes;
            }
            for (batch = SetAsideCommands.AddLater(batch); batch.Count > 0; batch = SetAsideCommands.AddLater(batch))
            {
                Wait.Begin();
                await recorder.RecordAsync(batch, cancellationToken);
                Wait.End();
                // Repeats of expired commands arrived before the unrecorded commands of the same account, so they are
                // recorded first. If versions were in a different order than commands, events that have to be published
                // again would be out of order too.
                batch = Answer(SetAside(batch, recorder.NotRecordable, recorder.Refusal));
            }
        }
    }

    // Returns the commands for copies that an end does not answer: they are still to be recorded.
    private List<PendingCommand> Answer(List<PendingCommand> done)
    {
        var left = answering.Answer(done);
        Accept(left.Next ?? []);
        return left.LateCopies ?? [];
    }

    /// <summary>Sets aside the commands that a step could not process at present, and the later ones of their accounts.
    /// Those of other owners are abandoned: they may never be readable here.</summary>
    /// <returns>The other commands.</returns>
    private List<PendingCommand> SetAside(
        List<PendingCommand> commands, List<PendingCommand> unprocessed, string? refusal)
    {
        if (unprocessed.Count == 0)
        {
            return commands;
        }
        var (at, accounts) = (unprocessed.ToHashSet(), new HashSet<string>(StringComparer.Ordinal));
        return commands.FindAll(command =>
        {
            var isToWait = at.Contains(command) || accounts.Contains(command.StreamId);
            if (!isToWait || command.AbandonIfOver())
            {
                return true;
            }
            accounts.Add(command.StreamId);
            SetAsideCommands.Add([command], refusal);
            return false;
        });
    }
}
