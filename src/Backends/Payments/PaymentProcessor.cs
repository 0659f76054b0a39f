using System.Collections.Concurrent;
using System.Diagnostics;
using Billing.Backends.CardNetwork;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Telemetry;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Hosting.Telemetry;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Payments;

/// <summary>The write side, for payments and changes of credit limits: takes deliveries, and publishes answers and events. Commands go to
/// the lane of the database that their account is in, where they are deduplicated, come back to be authorised by the card network,
/// go to the lane again to be recorded, and come back to be answered.</summary>
internal sealed partial class PaymentProcessor(
    IReadOnlyList<PaymentLane> lanes, ShardMap map, SimulatedCardNetwork network, Replier replier,
    IOptions<BackendOptions> options, Supervisor supervisor, TimeProvider time, ILogger<PaymentProcessor> logger)
    : Worker(supervisor), ICommandHandler, IReadyPart, ICommandFlow
{
    private static readonly TimeSpan WatchInterval = TimeSpan.FromMilliseconds(250);

    private readonly ConcurrentDictionary<string, PendingCommand> _lastOfAccount = new(StringComparer.Ordinal);
    private readonly CommandsInFlight _inFlight = new();
    private readonly CommandRouter _router = new(lanes, map, options.Value.StoreUnavailableMax, time);
    private readonly BackendOptions _options = options.Value;
    private readonly Supervisor _supervisor = supervisor;

    public int InFlight => replier.InFlight;

    public string? NotReadyReason => lanes.Select(lane => lane.NotReadyReason).FirstOrDefault(reason => reason is not null) ?? _router.NotReadyReason;

    public void Accept(IReadOnlyList<Delivery> deliveries)
    {
        replier.Enter(deliveries.Count);
        NoteConsumed(deliveries);
        // First look among the commands in flight, then for receipts: the other way round, a command that is recorded between
        // the two would be found in neither.
        _router.Enter(_inFlight.Enter(deliveries, time.GetTimestamp()));
    }

    public override async Task RunAsync(CancellationToken stopping) => await await Task.WhenAny(
        [.. lanes.Select(lane => lane.RunAsync(this, stopping)), _router.RunAsync(stopping), WatchStoreAsync(stopping)]);

    bool ICommandFlow.HasLeft(PaymentLane lane, PendingCommand command) => _router.LaneOf(command) != lane;

    void ICommandFlow.Return(PaymentLane lane, List<PendingCommand> misplaced)
    {
        Misplaced(misplaced.Count, string.Join(", ", misplaced.Select(c => c.Shard).Distinct().Order()));
        _router.Return(lane, misplaced);
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

    /// <summary>Starts the card-network call. All calls run concurrently, but the commands of one account are recorded in the
    /// order in which they arrived.</summary>
    bool ICommandFlow.Authorise(PendingCommand command, CancellationToken cancellationToken)
    {
        var authorised = command.Kind.IsAuthorised ? network.AuthoriseAsync(cancellationToken) : Task.CompletedTask;
        var before = _lastOfAccount.GetValueOrDefault(command.StreamId)?.Turn ?? Task.CompletedTask;
        if (authorised.IsCompletedSuccessfully && before.IsCompletedSuccessfully)
        {
            return true;
        }
        _lastOfAccount[command.StreamId] = command;
        command.Turn = TakeTurnAsync(
            command, authorised.IsCompletedSuccessfully ? authorised : MeasuredAsync(command, authorised), before);
        _supervisor.Watch("Authorising", command.Turn);
        return false;
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
        _router.EnterAuthorised(command);
        _lastOfAccount.TryRemove(KeyValuePair.Create(command.StreamId, command));
    }

    /// <summary>Answers commands that have their result, and those whose end that is, too; gives their turns to those that waited for them.</summary>
    /// <returns>The commands that still have to be recorded or answered, because they were requested again meanwhile.</returns>
    List<PendingCommand> ICommandFlow.Answer(List<PendingCommand> done)
    {
        if (done.Count == 0)
        {
            return done;
        }
        using var span = Tracing.StartJoint("reply", done.Select(c => c.Processing));
        var now = time.Microseconds();
        var left = _inFlight.Leave(done, now);
        Publish(left.Answered is null ? done : [.. done, .. left.Answered], now);
        PendingCommand.CountOutcomes(done);
        _router.Enter(left.Next ?? []);
        return left.Open ?? [];
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
                    abandoned.AddRange(command.Deliveries);
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
            Unanswerable(e, command.Id.TransactionId);
            foreach (var delivery in command.Deliveries)
            {
                replier.Reject(delivery, "The answer could not be built: " + e.Message, null);
            }
            return [];
        }
    }

    /// <summary>Answers the callers that have waited too long for a database that is away, or for a shard that is in none; their commands
    /// are recorded or dropped when there is one. The loops of the lanes cannot, since they wait for their databases.</summary>
    private async Task WatchStoreAsync(CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(WatchInterval, time);
        while (await timer.WaitForNextTickAsync(cancellationToken))
        {
            foreach (var lane in lanes)
            {
                if (lane.Access.IsAway)
                {
                    AnswerUnavailable(_inFlight.AnswerWaiting(lane.Access.PatienceBegan, command => _router.LaneOf(command) == lane));
                }
                else if (!lane.SetAsideCommands.IsEmpty)
                {
                    AnswerUnavailable(lane.SetAsideCommands.AnswerWaiting(lane.Access.PatienceBegan));
                    lane.Wake();
                }
            }
            if (_router.IsAway)
            {
                AnswerUnavailable(_inFlight.AnswerWaiting(_router.PatienceBegan, command => _router.LaneOf(command) is null));
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

    [LoggerMessage(224, LogLevel.Error, "The answer to transaction {TransactionId} cannot be built")]
    private partial void Unanswerable(Exception e, Guid transactionId);

    [LoggerMessage(221, LogLevel.Error, "The event store does not respond, or cannot record their commands: answered {Count} callers that have waited for {Seconds} s with UNAVAILABLE")]
    private partial void AnsweredUnavailable(int count, double seconds);

    [LoggerMessage(225, LogLevel.Information, "{Count} commands of the shards {Shards} are in another database now")]
    private partial void Misplaced(int count, string shards);
}
