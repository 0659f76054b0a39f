using System.Collections.Concurrent;
using System.Diagnostics;
using System.Threading.Channels;
using Billing.Backends.CardNetwork;
using Billing.Backends.EventStore;
using Billing.Backends.Telemetry;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Hosting.Telemetry;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Payments;

/// <summary>The write side, for payments and changes of credit limits: takes deliveries, and publishes answers and events. A
/// single loop works in turns; each turn takes whatever has accumulated during the previous one, so batches grow with the load,
/// and the fixed cost of a batch is shared by more payments. The steps of a turn are the methods in this order: deduplicate,
/// authorise, record, answer. A step that fails for several commands together is tried for parts of them, down to each alone. A command
/// that fails alone as well goes to the dead letters; if the event store is at fault, it is set aside and tried again.</summary>
internal sealed partial class PaymentProcessor(
    IAccountStore store, PaymentRecorder recorder, SimulatedCardNetwork network, Replier replier, EventStoreRetry retry,
    IOptions<BackendOptions> options, Supervisor supervisor, TimeProvider time, ILogger<PaymentProcessor> logger)
    : Worker(supervisor), ICommandHandler, IReadyPart
{
    private static readonly TimeSpan WatchInterval = TimeSpan.FromMilliseconds(250);

    // A try holds up the others, for less than a tenth of a second.
    private static readonly TimeSpan SetAsideInterval = TimeSpan.FromSeconds(2);

    private readonly Channel<IReadOnlyList<PendingCommand>> _accepted =
        Channel.CreateUnbounded<IReadOnlyList<PendingCommand>>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Channel<PendingCommand> _authorised =
        Channel.CreateUnbounded<PendingCommand>(new UnboundedChannelOptions { SingleReader = true });

    // Written to after every write to either queue; an item in it wakes the loop, which then drains both.
    private readonly Channel<bool> _work = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { SingleReader = true, FullMode = BoundedChannelFullMode.DropWrite });

    private readonly ConcurrentDictionary<string, PendingCommand> _lastOfAccount = new(StringComparer.Ordinal);
    private readonly CommandsInFlight _inFlight = new();
    private readonly CommandsSetAside _setAside = new();
    private readonly BackendOptions _options = options.Value;
    private readonly Supervisor _supervisor = supervisor;
    private readonly EventStoreRetry.Retries _retry = retry.Together(EventStoreFailure.IsRetryable, (e, attempt) =>
    {
        BackendMetrics.StoreRetries.Add(1);
        Waiting(logger, attempt, e.Message);
    });

    private readonly StoreAccess _access = new(time, options.Value.StoreUnavailableMax);
    private long _triedSetAside;

    public int InFlight => replier.InFlight;

    public string? NotReadyReason => _access.NotReadyReason;

    public void Accept(IReadOnlyList<Delivery> deliveries)
    {
        replier.Enter(deliveries.Count);
        NoteConsumed(deliveries);
        // First look among the commands in flight, then for receipts: the other way round, a command that is recorded between
        // the two would be found in neither.
        Enter(_inFlight.Enter(deliveries, time.GetTimestamp()));
    }

    public override async Task RunAsync(CancellationToken stopping) =>
        await await Task.WhenAny(TakeTurnsAsync(stopping), WatchStoreAsync(stopping));

    private void Enter(List<PendingCommand> fresh)
    {
        if (fresh.Count > 0)
        {
            _accepted.Writer.TryWrite(fresh);
            _work.Writer.TryWrite(true);
        }
    }

    private void NoteConsumed(IReadOnlyList<Delivery> deliveries)
    {
        foreach (var delivery in deliveries)
        {
            if (delivery.Command.Timing is not null)
            {
                delivery.ConsumedUnixUs = time.Microseconds();
            }
        }
    }

    private async Task TakeTurnsAsync(CancellationToken cancellationToken)
    {
        while (await _work.Reader.WaitToReadAsync(cancellationToken))
        {
            _work.Reader.TryRead(out _);
            var fresh = new List<PendingCommand>();
            while (_accepted.Reader.TryRead(out var commands))
            {
                fresh.AddRange(commands);
            }
            _retry.Begin();
            await DeduplicateAsync(fresh, cancellationToken);
            await RecordAsync(cancellationToken);
            await TrySetAsideAsync(cancellationToken);
        }
    }

    private async Task TrySetAsideAsync(CancellationToken cancellationToken)
    {
        if (!_setAside.IsEmpty && time.GetElapsedTime(_triedSetAside) >= SetAsideInterval)
        {
            _triedSetAside = time.GetTimestamp();
            await DeduplicateAsync(_setAside.Take(), cancellationToken);
            await RecordAsync(cancellationToken);
        }
    }

    /// <summary>Answers commands that have a receipt, and questions about payments; the other commands are authorised.</summary>
    private async Task DeduplicateAsync(List<PendingCommand> commands, CancellationToken cancellationToken)
    {
        var fresh = _setAside.AddLater(commands);
        if (fresh.Count == 0 || await ReceiptsAsync(fresh, cancellationToken) is not { } receipts)
        {
            return;
        }
        var repeated = new List<PendingCommand>();
        foreach (var command in fresh)
        {
            if (receipts.TryGetValue(command.Id, out var receipt))
            {
                command.Record(receipt);
                repeated.Add(command);
            }
            else if (command.IsStatusQuery)
            {
                command.RefuseAsEarly();
                repeated.Add(command);
            }
            else if (command.IsAuthorised)
            {
                _authorised.Writer.TryWrite(command);
            }
            else
            {
                Authorise(command, cancellationToken);
            }
        }
        BackendMetrics.AnsweredFromReceipt(repeated.Count);
        Answer(repeated);
    }

    /// <summary>The receipts of commands; null if they could not be read for all together, in which case the commands have been
    /// handled in parts.</summary>
    private async Task<Dictionary<CommandId, Event>?> ReceiptsAsync(List<PendingCommand> fresh, CancellationToken cancellationToken)
    {
        using var span = Tracing.StartJoint("receipts", fresh.Select(c => c.Processing));
        var since = BackendMetrics.Now;
        _access.Begin();
        try
        {
            var receipts = await _retry.ExecuteAsync(token => FindOrCloseAsync(fresh, token), cancellationToken);
            BackendMetrics.Took("receipts", since);
            return receipts;
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested && fresh.Count > 1)
        {
            ReceiptsUnreadable(e, fresh.Count);
            foreach (var half in fresh.Chunk((fresh.Count + 1) / 2))
            {
                await DeduplicateAsync([.. half], cancellationToken);
            }
            return null;
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            ReceiptUnreadable(e, fresh[0].Command.TransactionId);
            if (EventStoreFailure.IsRetryable(e))
            {
                SetAside(fresh);
                return null;
            }
            fresh[0].Reject("its receipt cannot be read: " + e.Message);
            Answer(fresh);
            return null;
        }
        finally
        {
            _access.End();
        }
    }

    private async Task<Dictionary<CommandId, Event>> FindOrCloseAsync(List<PendingCommand> fresh, CancellationToken cancellationToken)
    {
        await recorder.TakeOverAsync(fresh, cancellationToken);
        var found = await store.FindReceiptsAsync([.. fresh.Select(c => c.Id)], cancellationToken);
        var now = time.Microseconds();
        // That a payment is not in flight here and has no receipt does not mean that it will never have one. This makes sure.
        var failed = fresh.Where(c => c.IsStatusQuery && !c.IsEarly(now)).Select(c => c.Id)
            .Where(id => !found.ContainsKey(id)).Distinct().ToArray();
        return failed.Length == 0 ? found : found.Concat(await store.CloseAsync(failed, cancellationToken)).ToDictionary();
    }

    /// <summary>Starts the card-network call. All calls run concurrently, but the commands of one account are recorded in the
    /// order in which they arrived.</summary>
    private void Authorise(PendingCommand command, CancellationToken cancellationToken)
    {
        var authorised = command.Kind.IsAuthorised ? network.AuthoriseAsync(cancellationToken) : Task.CompletedTask;
        var before = _lastOfAccount.GetValueOrDefault(command.StreamId)?.Turn ?? Task.CompletedTask;
        if (authorised.IsCompletedSuccessfully && before.IsCompletedSuccessfully)
        {
            _authorised.Writer.TryWrite(command);
            return;
        }
        _lastOfAccount[command.StreamId] = command;
        command.Turn = TakeTurnAsync(
            command, authorised.IsCompletedSuccessfully ? authorised : MeasuredAsync(command, authorised), before);
        _supervisor.Watch("Authorising", command.Turn);
    }

    private static async Task MeasuredAsync(PendingCommand command, Task authorised)
    {
        var span = Tracing.Start("card network", ActivityKind.Client, command.Processing?.Context ?? default);
        var since = BackendMetrics.Now;
        await authorised;
        BackendMetrics.Took("card_network", since);
        Tracing.End(span);
    }

    private async Task TakeTurnAsync(PendingCommand command, Task authorised, Task before)
    {
        await authorised;
        await before;
        _authorised.Writer.TryWrite(command);
        _lastOfAccount.TryRemove(KeyValuePair.Create(command.StreamId, command));
        _work.Writer.TryWrite(true);
    }

    /// <summary>Records the commands that are authorised by now, in transactions of up to the largest batch.</summary>
    private async Task RecordAsync(CancellationToken cancellationToken)
    {
        while (_authorised.Reader.TryPeek(out _))
        {
            var batch = new List<PendingCommand>();
            while (batch.Count < _options.BatchMax && _authorised.Reader.TryRead(out var command))
            {
                command.IsAuthorised = true;
                batch.Add(command);
            }
            for (batch = _setAside.AddLater(batch); batch.Count > 0; batch = _setAside.AddLater(batch))
            {
                _access.Begin();
                await recorder.RecordAsync(batch, cancellationToken);
                _access.End();
                SetAsideNotRecordable(batch);
                // Repeats of expired commands arrived before the unrecorded commands of the same account, so they are recorded
                // first. If versions were in a different order than commands, events that have to be published again would be
                // out of order too.
                batch = Answer(batch);
            }
        }
    }

    private void SetAsideNotRecordable(List<PendingCommand> batch)
    {
        if (recorder.NotRecordable.Count > 0)
        {
            batch.RemoveAll(c => !c.IsDone);
            SetAside(recorder.NotRecordable);
        }
    }

    /// <summary>Sets commands aside, but leaves those of other owners to them: they may never be readable here.</summary>
    private void SetAside(List<PendingCommand> commands)
    {
        var ours = commands.FindAll(c => !c.Assignment.IsOver);
        _setAside.Add(ours);
        var others = commands.FindAll(c => c.Assignment.IsOver);
        others.ForEach(c => c.Abandon());
        Answer(others);
    }

    /// <summary>Answers commands that have their result.</summary>
    /// <returns>The commands that still have to be recorded, because they were requested again meanwhile.</returns>
    private List<PendingCommand> Answer(List<PendingCommand> done)
    {
        if (done.Count == 0)
        {
            return done;
        }
        using var span = Tracing.StartJoint("reply", done.Select(c => c.Processing));
        var now = time.Microseconds();
        var open = _inFlight.Leave(done, now);
        Enter(open.FindAll(c => c.IsStatusQuery));
        Publish(done, now);
        PendingCommand.CountOutcomes(done);
        return open.FindAll(c => !c.IsStatusQuery);
    }

    private void Publish(List<PendingCommand> done, long now)
    {
        var (answers, events) = (new List<(Delivery, Reply?)>(done.Count), new List<Event>(done.Count));
        var abandoned = new List<Delivery>();
        foreach (var command in done)
        {
            switch (command.Result)
            {
                case CommandResult.Abandoned:
                    var left = command.Deliveries.ToLookup(delivery => delivery.Assignment.IsOver);
                    abandoned.AddRange(left[true]);
                    // Under a present assignment only questions are left, which have been answered while they waited.
                    answers.AddRange(left[false].Select(delivery => (delivery, (Reply?)null)));
                    break;
                case CommandResult.Rejected { Reason: var reason }:
                    foreach (var (delivery, reply) in command.Answers(now))
                    {
                        replier.Reject(delivery, reason, reply);
                    }
                    break;
                case CommandResult.Recorded { Event: var recorded } when !command.IsStatusQuery:
                    answers.AddRange(Answers(command, now));
                    events.Add(recorded);
                    break;
                default:
                    answers.AddRange(Answers(command, now));
                    break;
            }
        }
        replier.Abandon(abandoned);
        // Redelivered commands may arrive in a different order than they were recorded in: an expired one was not recorded, but
        // its later copy was, after other commands. Each account's events are published in the order of their versions.
        events.Sort((one, other) => one.Version.CompareTo(other.Version));
        replier.Publish(answers, events);
    }

    private List<(Delivery, Reply?)> Answers(PendingCommand command, long nowUnixUs)
    {
        try
        {
            return [.. command.Answers(nowUnixUs)];
        }
        catch (Exception e)
        {
            Unanswerable(e, command.Command.TransactionId);
            foreach (var delivery in command.Deliveries)
            {
                replier.Reject(delivery, "The answer could not be built: " + e.Message, null);
            }
            return [];
        }
    }

    /// <summary>While the event store is unavailable, answers the callers that have waited too long; the loop of turns cannot,
    /// since it waits for the store. Their commands are recorded or dropped when the store is back.</summary>
    private async Task WatchStoreAsync(CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(WatchInterval, time);
        while (await timer.WaitForNextTickAsync(cancellationToken))
        {
            if (_access.IsAway)
            {
                AnswerUnavailable(_inFlight.AnswerWaiting(_access.PatienceBegan));
            }
            else if (!_setAside.IsEmpty)
            {
                AnswerUnavailable(_setAside.AnswerWaiting(_access.PatienceBegan));
                _work.Writer.TryWrite(true);
            }
        }
    }

    private void AnswerUnavailable(List<Delivery> waiting)
    {
        if (waiting.Count == 0)
        {
            return;
        }
        AnsweredUnavailable(waiting.Count, _options.StoreUnavailableMax.TotalSeconds);
        replier.Answer(waiting.ConvertAll(delivery => (delivery, Replies.Error(
            delivery.Command.CorrelationId, StatusCode.Unavailable, ErrorReasons.EventStoreUnavailable,
            "The event store cannot record this at the moment; retry with the same transaction_id."))));
    }

    [LoggerMessage(220, LogLevel.Warning, "Receipts could not be read, attempt {Attempt}: {Reason}")]
    private static partial void Waiting(ILogger logger, int attempt, string reason);

    [LoggerMessage(222, LogLevel.Error, "The receipts of {Count} commands cannot be read together; trying halves of them")]
    private partial void ReceiptsUnreadable(Exception e, int count);

    [LoggerMessage(223, LogLevel.Error, "The receipt of transaction {TransactionId} cannot be read")]
    private partial void ReceiptUnreadable(Exception e, Guid transactionId);

    [LoggerMessage(224, LogLevel.Error, "The answer to transaction {TransactionId} cannot be built")]
    private partial void Unanswerable(Exception e, Guid transactionId);

    [LoggerMessage(221, LogLevel.Error, "The event store does not respond, or cannot record their commands: answered {Count} callers that have waited for {Seconds} s with UNAVAILABLE")]
    private partial void AnsweredUnavailable(int count, double seconds);
}
