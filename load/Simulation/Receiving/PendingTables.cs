using Billing.Webhooks;

namespace Billing.Simulation.Receiving;

/// <summary>The tables of the webhook service, and what <c>WebhookStore</c> does to them.
/// A change there has to be made here, too.</summary>
/// <param name="time">The database's clock.</param>
/// <param name="retryFor">How long an event is tried before the account's events are parked.</param>
/// <param name="longestWait">What nothing waits for longer than, unless the clock was ahead.</param>
internal sealed class PendingTables(Func<DateTimeOffset> time, TimeSpan retryFor, TimeSpan longestWait)
{
    // Of one account, how many events are read at once.
    private const int EventsMax = 20;

    private static readonly Comparer<PendingId> InOrder = Comparer<PendingId>.Create(
        (one, other) => (one.Incarnation, one.Version, one.Id).CompareTo((other.Incarnation, other.Version, other.Id)));

    private readonly SortedDictionary<(string Receiver, string StreamId), SortedList<PendingId, string>> _pending = [];
    private readonly SortedDictionary<(string Receiver, string StreamId), AccountRow> _accounts = [];

    /// <summary>Number of events that wait.</summary>
    public int Waiting => _pending.Values.Sum(events => events.Count);

    public void Add(IReadOnlyList<PendingEvent> events)
    {
        foreach (var pending in events)
        {
            var key = (pending.Receiver, pending.StreamId);
            if (!_pending.TryGetValue(key, out var waiting))
            {
                _pending[key] = waiting = new SortedList<PendingId, string>(InOrder);
            }
            if (waiting.TryAdd(pending.Id, pending.Body))
            {
                _accounts.TryAdd(key, new AccountRow { DueAt = time() });
            }
        }
    }

    public List<ClaimedAccount> Claim(
        string receiver, Guid claim, TimeSpan lease, int limit, Func<string, bool> isLocked)
    {
        var now = time();
        var mine = _accounts.Where(account => account.Key.Receiver == receiver).ToList();
        var due = mine.Where(account => account.Value.DueAt <= now && !isLocked(account.Key.StreamId))
            .OrderBy(account => account.Value.DueAt).Take(limit)
            .OrderBy(account => account.Key.StreamId, StringComparer.Ordinal).ToList();
        foreach (var (_, overdue) in mine.Where(
            account => account.Value.DueAt > now + (longestWait > lease ? longestWait : lease)))
        {
            overdue.DueAt = now;
        }
        due.ForEach(account => (account.Value.Claim, account.Value.DueAt) = (claim, now + lease));
        return due.ConvertAll(account => new ClaimedAccount(
            account.Key.StreamId, account.Value.Failures,
            [
                .. _pending.GetValueOrDefault(account.Key, []).Take(EventsMax)
                    .Select(waiting => (waiting.Key, waiting.Value)),
            ]));
    }

    /// <returns>The accounts whose events are parked from now on.</returns>
    public List<string> Settle(string receiver, Guid claim, IReadOnlyList<DeliveryOutcome> outcomes)
    {
        var parked = new List<string>();
        foreach (var outcome in outcomes)
        {
            var key = (receiver, outcome.StreamId);
            foreach (var delivered in outcome.Delivered)
            {
                _pending.GetValueOrDefault(key)?.Remove(delivered);
            }
            if (!_accounts.TryGetValue(key, out var account) || account.Claim != claim)
            {
                continue;
            }
            if (_pending.GetValueOrDefault(key, []).Count == 0)
            {
                _accounts.Remove(key);
            }
            else if (!account.End(outcome, time(), retryFor))
            {
                parked.Add(outcome.StreamId);
            }
        }
        return parked;
    }

    public IReadOnlyList<ReceiverState> States() =>
        [.. _pending.GroupBy(account => account.Key.Receiver)
            .Where(account => account.Any(events => events.Value.Count > 0)).Select(account => new ReceiverState(
                account.Key, account.Sum(events => events.Value.Count), TimeSpan.Zero,
                _accounts.Count(row => row.Key.Receiver == account.Key && row.Value.DueAt is null)))];

    private sealed class AccountRow
    {
        private DateTimeOffset? _failingSince;

        public required DateTimeOffset? DueAt { get; set; }

        public Guid? Claim { get; set; }

        public int Failures { get; private set; }

        // Returns false if the account's events are parked.
        public bool End(DeliveryOutcome outcome, DateTimeOffset now, TimeSpan retryFor)
        {
            var progress = outcome.Delivered.Count > 0;
            Claim = null;
            if (outcome.Failure is not { } failure)
            {
                (Failures, _failingSince, DueAt) = (0, null, now);
                return true;
            }
            var isOver = failure.IsGone || (!progress && now - _failingSince >= retryFor);
            Failures = progress ? 1 : Failures + 1;
            _failingSince = progress ? now : _failingSince ?? now;
            DueAt = isOver ? null : now + outcome.Retry;
            return !isOver;
        }
    }
}
