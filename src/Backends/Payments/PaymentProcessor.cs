using Billing.Backends.CardNetwork;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Payments.InFlight;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Payments;

/// <summary>The write side: all requests that change accounts. A command passes its steps in this order: it is taken or
/// joins the command that it repeats (<see cref="CommandsInFlight"/>), goes to the lane of the database that holds its
/// account (<see cref="CommandRouter"/>), is answered from its receipt if it has one (<see cref="Deduplication"/>), is
/// authorised by the card network (<see cref="Authorisation"/>), decided and appended (<see cref="PaymentRecorder"/>),
/// answered, published and settled (<see cref="Answering"/>).</summary>
internal sealed class PaymentProcessor : Worker, ICommandHandler, IReadyPart
{
    private static readonly TimeSpan WatchInterval = TimeSpan.FromMilliseconds(250);

    private readonly CommandsInFlight _inFlight = new();
    private readonly Replier _replier;
    private readonly Answering _answering;
    private readonly PaymentLane[] _lanes;
    private readonly CommandRouter _router;
    private readonly TimeSpan _patience;
    private readonly TimeProvider _time;

    public PaymentProcessor(
        ShardMap map, SimulatedCardNetwork network, Replier replier, EventStoreRetry retry,
        IOptions<BackendOptions> options, Supervisor supervisor, TimeProvider time, ILoggerFactory log)
        : base(supervisor)
    {
        (_replier, _patience, _time) = (replier, options.Value.StoreUnavailableMax, time);
        _answering = new Answering(_inFlight, replier, time, log.CreateLogger<Answering>());
        var authorisation = new Authorisation(network, supervisor);
        _lanes = [.. map.Databases.Select(NewLane)];
        _router = new CommandRouter(_lanes, map, _answering, _patience, time);

        PaymentLane NewLane(IAccountStore store)
        {
            var ownership = new Ownership(store, map, time, log.CreateLogger<Ownership>());
            return new PaymentLane(
                store, new Deduplication(store, ownership, retry, log.CreateLogger<Deduplication>()), authorisation,
                new PaymentRecorder(store, ownership, retry, options, time, log.CreateLogger<PaymentRecorder>()),
                _answering, options, time);
        }
    }

    public int InFlight => _replier.InFlight;

    public string? NotReadyReason =>
        _lanes.Select(lane => lane.NotReadyReason).FirstOrDefault(reason => reason is not null)
        ?? _router.NotReadyReason;

    public void Accept(IReadOnlyList<Delivery> deliveries)
    {
        _replier.Enter(deliveries.Count);
        NoteConsumed(deliveries);
        // First look among the commands in flight, then for receipts: the other way round, a command that is recorded
        // between the two would be found in neither.
        _router.Enter(_inFlight.Enter(deliveries, _time.GetTimestamp()));
    }

    public override async Task RunAsync(CancellationToken stopping) => await await Task.WhenAny(
        [.. _lanes.Select(lane => lane.RunAsync(stopping)), _router.RunAsync(stopping), WatchStoreAsync(stopping)]);

    private void NoteConsumed(IReadOnlyList<Delivery> deliveries)
    {
        foreach (var delivery in deliveries)
        {
            if (delivery.Command.Timing is not null)
            {
                delivery.ConsumedUnixUs = _time.Microseconds();
            }
        }
    }

    /// <summary>Answers the callers that have waited too long for a database that is away, or for a shard that is in
    /// none; their commands are recorded or dropped when there is one. The loops of the lanes cannot, since they wait
    /// for their databases.</summary>
    private async Task WatchStoreAsync(CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(WatchInterval, _time);
        while (await timer.WaitForNextTickAsync(cancellationToken))
        {
            for (var database = 0; database < _lanes.Length; database++)
            {
                var lane = _lanes[database];
                if (lane.Wait.IsTooLong)
                {
                    AnswerWaiting(database, lane.Wait.PatienceBegan);
                }
                else if (!lane.SetAsideCommands.IsEmpty)
                {
                    _answering.AnswerUnavailable(
                        lane.SetAsideCommands.AnswerWaiting(lane.Wait.PatienceBegan), _patience);
                    lane.Wake();
                }
            }
            if (_router.WaitsTooLong)
            {
                AnswerWaiting(ShardMap.Nowhere, _router.PatienceBegan);
            }
        }
    }

    private void AnswerWaiting(int database, long since) =>
        _answering.AnswerUnavailable(
            _inFlight.AnswerWaiting(since, command => command.Holder.Database == database), _patience);
}
