using Billing.Messaging;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.Messaging.Requests;
using Billing.Simulation.Books;
using Billing.Simulation.Callers;
using Billing.Simulation.Kafka;
using Billing.Simulation.Schedules;
using Billing.Wire.V1;

namespace Billing.Simulation.Runs;

/// <content>What is checked when the platform is at rest.</content>
internal sealed partial class Run
{
    private void CheckEnd()
    {
        _model.CheckStore();
        CheckRead();
        _platform.Store.Check();
        ReferenceModel.Require(_platform.Balances.All(b => b.View.Waiting == 0), "somebody waits for a view for ever");
        CheckDeadLetters();
        if (!_schedule.PlatformFaults.Any() && !_clients.HasAskedAgain)
        {
            CheckOrder();
        }
        // If a command is deleted before it is settled and its backend crashes, it is not delivered again, and its
        // event may never be published.
        if (!_requestsLost)
        {
            CheckViews();
            CheckEvents();
        }
        CheckWebhooks();
    }

    /// <summary>Checks that no request that is on a topic was left unread.</summary>
    private void CheckRead()
    {
        foreach (var log in Topics.AllRequests.SelectMany(topic => _platform.Brokers.Find(topic)!))
        {
            ReferenceModel.Require(
                log.Present.All(record => record.IsSettled),
                $"{log.Partition} has {log.Present.Count(record => !record.IsSettled)} records between {log.First} and "
                    + $"{log.End} that nobody has settled");
        }
    }

    /// <summary>Checks, for a run without faults and retries, that each account's events are in the order of its
    /// commands. Of a command that was sent more than once, the first copy may have expired for a backend whose clock
    /// is ahead, and a later one not.</summary>
    private void CheckOrder()
    {
        var commands = Topics.AllPayments.SelectMany(topic => _platform.Brokers.Find(topic)!).SelectMany(log => log.All)
            .Select(record => Command.Parser.ParseFrom(record.Value))
            .Where(command => command.PaymentStatus is null).ToList();
        foreach (var stream in Clients.Streams)
        {
            var asked = commands.Where(c => CommandRoute.Of(c).StreamId == stream)
                .GroupBy(c => c.TransactionId.ToLowerInvariant(), StringComparer.Ordinal)
                .Where(copies => !_clients.Shared.Contains(copies.Key)).Where(copies =>
                    _schedule.Settings.ClockSkewMs == 0 || copies.Count() == 1).Select(copies => copies.Key).ToList();
            var stored = _platform.Store.History.Stream(stream).Select(e => e.Recorded.TransactionId)
                .Where(asked.Contains).ToList();
            ReferenceModel.Require(
                asked.Where(stored.Contains).SequenceEqual(stored),
                $"the events of {stream} are not in the order of its commands");
        }
        foreach (var (stream, ids) in _clients.InTurn)
        {
            var stored = _platform.Store.History.Stream(stream).Select(e => e.Recorded.TransactionId)
                .Where(ids.Contains);
            ReferenceModel.Require(
                stored.SequenceEqual(ids), $"payments of {stream} were made in turn and stored in another order");
        }
    }

    private void CheckViews()
    {
        foreach (var stream in Clients.Streams)
        {
            foreach (var backend in _platform.Balances)
            {
                if (backend.View.Find(stream) is { } account)
                {
                    _model.Viewed(stream, account, backend.Node.OpeningLimits);
                }
            }
        }
    }

    /// <summary>Checks that every event is published, and that the events of an account are first published in order,
    /// unless two backends have worked on the account at the same time, or an event of it could not be read.</summary>
    private void CheckEvents()
    {
        var published = new Dictionary<string, long>(StringComparer.Ordinal);
        var all = new HashSet<(string, long, string)>();
        var begun = _platform.Store.History.Events.TakeWhile(stored => stored.At < 0)
            .GroupBy(stored => stored.StreamId, StringComparer.Ordinal);
        foreach (var account in begun)
        {
            published[account.Key] = account.Count();
        }
        foreach (var record in _platform.Brokers.Find(Topics.Events)!.SelectMany(log => log.All))
        {
            if (!Messaging.WireFormat.TryReadEvent(record.Value, "1"u8, out var recorded, out _))
            {
                continue;
            }
            var last = published.GetValueOrDefault(recorded.StreamId);
            all.Add((recorded.StreamId, recorded.Version, recorded.TransactionId));
            ReferenceModel.Require(
                MayBePublishedOutOfOrder || recorded.Version <= last + 1,
                $"{recorded.StreamId}@{recorded.Version} was published before {last + 1}");
            published[recorded.StreamId] = Math.Max(last, recorded.Version);
        }
        foreach (var account in Clients.Streams)
        {
            foreach (var stored in _platform.Store.History.Stream(account).Where(stored => stored.At >= 0))
            {
                ReferenceModel.Require(
                    all.Contains((account, stored.Version, stored.Recorded.TransactionId)),
                    $"{account}@{stored.Version} was not published");
            }
        }
    }

    private bool MayBePublishedOutOfOrder =>
        _requestsLost || _platform.Brokers.HadTwoOwners
        || _schedule.Faults.Any(fault => fault.Kind == FaultKind.ReceiptsDamaged);

    /// <summary>Checks that the dead letters are exactly the bad records.</summary>
    private void CheckDeadLetters()
    {
        var letters = _platform.Brokers.Find(Topics.DeadLetters)![0].All
            .Select(letter => (
                Header(letter, DeadLetterPublisher.TopicHeader), Header(letter, DeadLetterPublisher.PartitionHeader),
                Header(letter, DeadLetterPublisher.OffsetHeader)))
            .Distinct().Count();
        ReferenceModel.Require(
            letters == _badRecords || (_requestsLost && letters < _badRecords),
            $"there are {letters} dead letters; {_badRecords} records were bad");
    }

    private static string Header(StoredRecord letter, string name) =>
        System.Text.Encoding.UTF8.GetString(letter.Headers.GetLastBytes(name));
}
