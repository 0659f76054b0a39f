using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Simulation.Books;
using Billing.Simulation.Callers;
using Billing.Simulation.Kafka;
using Billing.Simulation.Receiving;
using Billing.Simulation.Schedules;
using Billing.Webhooks;
using Billing.Wire.V1;

namespace Billing.Simulation.Runs;

/// <content>The faults of webhooks, and what their receivers must have got.</content>
internal sealed partial class Run
{
    private void InjectIntoWebhooks(Fault fault, TimeSpan lasts)
    {
        var (number, until) = (fault.Target % _schedule.Settings.WebhookServices, _scheduler.Now + lasts.Ticks);
        var (node, receivers) = (_platform.Webhooks[number].Node, _platform.Receivers);
        Action inject = fault.Kind switch
        {
            FaultKind.CrashWebhooks => () => _platform.CrashWebhooks(number, lasts),
            FaultKind.StopWebhooks => () => _platform.StopWebhooks(number, lasts),
            FaultKind.FreezeWebhooks => () => _platform.Freeze(node, lasts),
            FaultKind.PauseWebhooks => () => _platform.PauseMachine(node, Pausing),
            FaultKind.CutWebhooksFromBrokers => () => _platform.CutFromBrokers(node, lasts, TimeSpan.Zero),
            FaultKind.CutWebhooksFromStore => () => node.ToStore.Cut(lasts, TimeSpan.Zero),
            FaultKind.WebhookStoreFails => () => FailWebhookDatabase(until),
            FaultKind.WebhookOffsetsWrong => MakeWebhookOffsetsWrong,
            FaultKind.ReceiversAway => () => receivers.AwayUntil = until,
            FaultKind.ReceiversUnsure => () => receivers.UnsureUntil = until,
            FaultKind.ReceiversRefuse =>
                () => receivers.Refusing = (StreamId.Split(Clients.Stream(fault.Target))!.Value.AccountId, until),
            _ => throw new SimulationException($"There is no fault {fault.Kind}."),
        };
        inject();
    }

    private void FailWebhookDatabase(long until)
    {
        var database = _platform.WebhookDatabase;
        _dice.Pick<Action>(
        [
            () => database.AwayUntil = until,
            () => database.ReadOnlyUntil = until,
            () => database.UnsureUntil = until,
            () => database.SlowUntil = until,
            () => database.BusyUntil = until,
            () => database.StallUntil = until,
            () => database.FailOver(TimeSpan.FromTicks(until - _scheduler.Now)),
        ])();
    }

    private void MakeWebhookOffsetsWrong()
    {
        for (var number = 0; number < _schedule.Settings.WebhookServices; number++)
        {
            _platform.CrashWebhooks(number, TimeSpan.FromSeconds(1));
        }
        ChangeOffsets(
            Groups.Webhooks, [Topics.Events],
            (group, log) =>
                _dice.Pick<Action<Group, Log>>([LoseOffset, MoveOffsetBack, MoveOffsetPastEnd])(group, log));
    }

    /// <summary>Checks that every receiver has got each event that it wants, as it was published, and each account's in
    /// their order: once, if no webhook service, its database or a receiver failed.</summary>
    private void CheckWebhooks()
    {
        if (_schedule.Settings.WebhookServices == 0)
        {
            return;
        }
        var logs = _platform.Brokers.Find(Topics.Events)!;
        var published = EventsOf(logs.SelectMany(log => log.All))
            .ToDictionary(copies => copies.Key, copies => copies.ToList());
        var left = EventsOf(logs.SelectMany(log => log.Present)).Select(copies => copies.Key).ToHashSet();
        foreach (var receiver in _platform.Receivers.Options.Receivers.Keys)
        {
            CheckReceiver(receiver, published, left);
        }
    }

    private static IEnumerable<IGrouping<string, Event>> EventsOf(IEnumerable<StoredRecord> records) => records
        .Select(record => WireFormat.TryReadEvent(record.Value, "1"u8, out var recorded, out _)
            && EventBody.IsOfAccount(recorded) ? recorded : null)
        .OfType<Event>().GroupBy(recorded => EventIds.Of(recorded).ToString());

    private void CheckReceiver(string receiver, Dictionary<string, List<Event>> published, HashSet<string> left)
    {
        var last = new Dictionary<string, (long, long)>(StringComparer.Ordinal);
        var got = new Dictionary<string, int>(StringComparer.Ordinal);
        var areDeleted = _schedule.Faults.Any(fault => fault.Kind == FaultKind.EventsDeleted);
        foreach (var taken in _platform.Receivers.Taken.Where(taken => taken.Receiver == receiver))
        {
            var recorded = published.GetValueOrDefault(taken.Id)?[0];
            ReferenceModel.Require(
                recorded is not null && Receivers.Wants(receiver, recorded) && taken.Body == EventBody.Of(recorded),
                $"the receiver '{receiver}' got {taken.Id}, which was not published for it: {taken.Body}");
            got[taken.Id] = got.GetValueOrDefault(taken.Id) + 1;
            if (got[taken.Id] > 1)
            {
                continue;
            }
            var (place, before) =
                ((recorded!.Incarnation, recorded.Version), last.GetValueOrDefault(recorded.StreamId));
            // What was deleted before it was taken over is late if it is published again, or if a service that was
            // paused had read it.
            var mayBeLate = areDeleted && (published[taken.Id].Count > 1 || !left.Contains(taken.Id));
            ReferenceModel.Require(
                MayBePublishedOutOfOrder || mayBeLate || before.CompareTo(place) < 0,
                $"the receiver '{receiver}' got {recorded.StreamId}@{place} after {before}");
            last[recorded.StreamId] = before.CompareTo(place) < 0 ? place : before;
        }
        foreach (var (id, copies) in published.Where(copies => Receivers.Wants(receiver, copies.Value[0])))
        {
            var times = got.GetValueOrDefault(id);
            ReferenceModel.Require(
                times > 0 || areDeleted,
                $"the receiver '{receiver}' never got {copies[0].StreamId}@{copies[0].Version}");
            ReferenceModel.Require(
                times <= copies.Count || _schedule.RepeatsWebhooks,
                $"the receiver '{receiver}' got {copies[0].StreamId}@{copies[0].Version} {times} times although no "
                    + "webhook failed");
        }
    }
}
