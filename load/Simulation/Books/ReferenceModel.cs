using System.Globalization;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.Simulation.Store;
using Billing.V1;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;

namespace Billing.Simulation.Books;

/// <summary>An independent record that checks the platform: the requests, the answers, and the state that each account
/// must have after each of its events, by a second implementation of the rules. Throws a
/// <see cref="SimulationException"/> at the first wrong answer or event.</summary>
internal sealed partial class ReferenceModel(StoreHistory store, Func<long> now)
{
    private readonly Func<long> _now = now;
    private readonly Dictionary<CommandId, IMessage> _answers = [];
    private readonly HashSet<CommandId> _recordedFor = [];
    private readonly Dictionary<CommandId, PaymentRecord> _payments = [];
    private readonly Dictionary<string, List<State>> _states = new(StringComparer.Ordinal);

    /// <summary>Checks each event as it is stored from now on.</summary>
    public void Watch() => store.Appended += Record;

    /// <summary>Checks the answer to a payment.</summary>
    public void Paid(CommandId id, Contents contents, MakePaymentResponse answer)
    {
        var state = StateOf(id, contents, answer.Version);
        Require(
            answer.Outcome == (state.Declined is null ? PaymentOutcome.Accepted : PaymentOutcome.Declined)
            && (state.Declined is null || state.Declined == answer.DeclineReason),
            $"a payment was answered with {answer.Outcome} {answer.DeclineReason}; "
                + $"stored is {state.Declined?.ToString() ?? "accepted"}");
        RequireAnswer(id, state, answer);
    }

    /// <summary>Checks the answer to a refund of a payment.</summary>
    public void Refunded(CommandId id, Contents contents, CommandId payment, RefundPaymentResponse answer)
    {
        var state = StateOf(id, contents, answer.Version);
        Require(
            answer.PaymentId == payment.TransactionId.ToString()
                && Decimal(answer.Refunded) <= _payments[payment].Refunded,
            $"a refund was answered with {answer}; it is {state}, {_payments[payment]}");
        RequireAnswer(id, state, answer);
    }

    /// <summary>Checks the answer to an authorisation.</summary>
    public void Authorised(CommandId id, Contents contents, AuthorisePaymentResponse answer)
    {
        var state = StateOf(id, contents, answer.Version);
        Require(
            (answer.Outcome == PaymentOutcome.Declined) == _payments[id].IsDeclined
            && answer.ExpireTime?.ToDateTimeOffset().UtcTicks / 10 == _payments[id].ExpiresAt?.UtcTicks / 10,
            $"an authorisation was answered with {answer}; it is {state}, {_payments[id]}");
        RequireAnswer(id, state, answer);
    }

    /// <summary>Checks the answer to a capture.</summary>
    public void Captured(CommandId id, Contents contents, CommandId payment, CapturePaymentResponse answer)
    {
        var state = StateOf(id, contents, answer.Version);
        Require(
            answer.PaymentId == payment.TransactionId.ToString()
            && Decimal(answer.Charged) <= _payments[payment].Charged && Decimal(answer.Held) >= _payments[payment].Held,
            $"a capture was answered with {answer}; it is {state}, {_payments[payment]}");
        RequireAnswer(id, state, answer);
    }

    /// <summary>Checks the answer to a release.</summary>
    public void Voided(CommandId id, Contents contents, CommandId payment, VoidPaymentResponse answer)
    {
        var state = StateOf(id, contents, answer.Version);
        Require(
            answer.PaymentId == payment.TransactionId.ToString() && _payments[payment].Held == 0,
            $"a release was answered with {answer}; it is {state}, {_payments[payment]}");
        RequireAnswer(id, state, answer);
    }

    /// <summary>Checks that a capture or a release was rightly refused. What is on hold only becomes less, so it will
    /// never be recorded.</summary>
    public void HoldRefused(CommandId id, Contents contents, CommandId payment, decimal amount, string? reason)
    {
        States(id.StreamId);
        var held = _payments[payment].Held;
        Require(
            reason switch
            {
                ErrorReasons.PaymentDeclined => _payments[payment].IsDeclined,
                ErrorReasons.NotOnHold => !_payments[payment].IsDeclined && held == 0,
                ErrorReasons.AmountTooLarge => amount > held,
                _ => false,
            },
            $"a capture of {amount} was refused with {reason}; {_payments[payment]}");
        _refused.Add((id, contents));
    }

    /// <summary>Checks that a refund was rightly refused. What is left of a payment only becomes less, so it will
    /// never be recorded.</summary>
    public void RefundRefused(CommandId id, Contents contents, CommandId payment, decimal amount, string? reason)
    {
        States(id.StreamId);
        if (!_payments.TryGetValue(payment, out var paid))
        {
            Require(
                reason == ErrorReasons.PaymentNotFound,
                $"a refund of a payment that is not recorded was refused with {reason}");
            return;
        }
        Require(
            paid.IsDeclined
                ? reason == ErrorReasons.PaymentDeclined
                : reason == ErrorReasons.AmountTooLarge && amount > paid.Charged - paid.Refunded,
            $"a refund of {amount} was refused with {reason}; {paid}");
        _refused.Add((id, contents));
    }

    /// <summary>Checks the answer to a change of a limit.</summary>
    public void Limited(CommandId id, Contents contents, SetCreditLimitResponse answer)
    {
        var state = StateOf(id, contents, answer.Version);
        Require(Decimal(answer.Limit) == state.Limit, "a limit was answered wrongly");
        RequireAnswer(id, state, answer);
    }

    /// <summary>Checks that a change of a limit was rightly refused because of its currency.</summary>
    public void LimitRefused(string streamId, string currency)
    {
        var now = States(streamId)[^1].Currency;
        Require(
            now is not null && now != currency,
            $"a limit in {currency} was refused for an account in {now ?? "no currency"}");
    }

    /// <summary>Checks the answer to a change of a status.</summary>
    public void StatusSet(CommandId id, Contents contents, SetAccountStatusResponse answer)
    {
        var state = StateOf(id, contents, answer.Version);
        Require(
            answer.AccountStatus == state.Status,
            $"a change of a status was answered with {answer}; it is {state}");
        RequireAnswer(id, state, answer);
    }

    /// <summary>Number of events of an account.</summary>
    public int VersionOf(string streamId) => States(streamId).Count - 1;

    /// <summary>Checks that an account was rightly not closed: it was not empty at some moment
    /// after the request.</summary>
    public void StatusRefused(string streamId, AccountStatus status, int since) => Require(
        status == AccountStatus.Closed
            && States(streamId).Skip(since).Any(state => state.Balance != 0 || state.OnHold != 0),
        $"a change to {status} was refused, and {streamId} was empty");

    /// <summary>Checks the state of an account in a view.</summary>
    public void Viewed(string streamId, Account account, IReadOnlyDictionary<string, decimal> openingLimits)
    {
        var last = States(streamId)[^1];
        Require(
            account.Version == last.Version && account.Balance == last.Balance
                && account.CreditLimit == LimitOf(last, openingLimits)
            && account.Currency == last.Currency && account.OnHold == last.OnHold && account.Status == last.Status,
            $"a view has {streamId} as {account}; it is {last}");
    }

    /// <summary>Checks everything in the event store.</summary>
    public void CheckStore()
    {
        foreach (var streamId in store.Events.Select(e => e.StreamId).Distinct(StringComparer.Ordinal).ToList())
        {
            States(streamId);
            string? head = null;
            foreach (var stored in store.Stream(streamId))
            {
                head = EventChain.Append(head, streamId, stored.Version, stored.Fact).Hash;
                Require(head == stored.Hash, $"{streamId}@{stored.Version} is not chained to the event before it");
            }
        }
        Require(
            store.Events.Select(Id).Distinct().Count() == store.Events.Count, "a transaction is recorded twice");
        Require(
            !store.Events.Any(
                stored => Contents.Of(stored.Fact) is { } contents && _refused.Contains((Id(stored), contents))),
            "a request that was called failed is recorded");
    }

    /// <summary>Throws a <see cref="SimulationException"/> if a condition does not hold.</summary>
    public static void Require(bool holds, string what)
    {
        if (!holds)
        {
            throw new SimulationException(what);
        }
    }

    /// <summary>An amount, in units.</summary>
    public static decimal Decimal(Money money) => money.Units + (money.Nanos / 1_000_000_000m);

    private static CommandId Id(Stored stored) => new(stored.Fact.TransactionId, stored.StreamId);

    private State StateOf(CommandId id, Contents contents, long version)
    {
        var (transactionId, streamId) = id;
        var states = States(streamId);
        Require(version > 0 && version < states.Count, string.Create(
            CultureInfo.InvariantCulture, $"version {version} of {streamId} was answered and is not stored"));
        var state = states[(int)version];
        Require(
            state.TransactionId == transactionId,
            $"version {version} of {streamId} was answered for another transaction");
        Require(RecordedOf(id) == contents, $"{contents} was answered with what is recorded for {RecordedOf(id)}");
        return state;
    }

    // The states by version, from 0, up to the last stored event.
    private List<State> States(string streamId)
    {
        if (!_states.TryGetValue(streamId, out var states))
        {
            _states[streamId] = states = [new State(0, 0, 0, null, null, AccountStatus.Open, Guid.Empty, null)];
        }
        foreach (var stored in store.Stream(streamId).Skip(states.Count - 1))
        {
            states.Add(Next(states[^1], stored));
        }
        return states;
    }

    private State Next(State before, Stored stored)
    {
        var (amount, currency) = stored.Fact switch
        {
            PaymentAccepted accepted => (accepted.Amount, accepted.Currency),
            PaymentDeclined declined => (declined.Amount, declined.Currency),
            PaymentAuthorised authorised => (authorised.Amount, authorised.Currency),
            AuthorisationDeclined declined => (declined.Amount, declined.Currency),
            CreditLimitChanged changed => (changed.Limit, changed.Currency),
            PaymentRefunded refunded => (refunded.Amount, refunded.Currency),
            PaymentCaptured captured => (captured.Amount, captured.Currency),
            AuthorisationVoided voided => (0, voided.Currency),
            AuthorisationExpired expired => (0, expired.Currency),
            AccountStatusChanged changed => ((int)(changed.Status ?? AccountStatus.Open), ""),
            _ => throw new SimulationException("an event is stored that nobody knows"),
        };
        Require(
            stored.At < 0 || Contents.Of(stored.Fact) is not { } contents || WasAsked(Id(stored), contents),
            $"{stored.Fact} is stored in {stored.StreamId} and was never asked for");
        var fits = before.Currency is null || before.Currency == currency;
        DeclineReason? reason = before.Status == AccountStatus.Frozen ? DeclineReason.AccountFrozen
            : before.Status == AccountStatus.Closed ? DeclineReason.AccountClosed
            : !fits ? DeclineReason.CurrencyMismatch
            : before.Balance + before.OnHold + amount > (before.Limit
                ?? stored.OpeningLimits.GetValueOrDefault(currency)) ? DeclineReason.CreditLimitExceeded
            : null;
        var released = stored.Fact switch
        {
            PaymentCaptured captured => captured.Released,
            AuthorisationVoided voided => voided.Released,
            AuthorisationExpired expired => expired.Released,
            _ => 0,
        };
        var after = stored.Fact switch
        {
            PaymentAccepted => before with { Balance = before.Balance + amount, Currency = currency, Declined = null },
            PaymentAuthorised => before with { OnHold = before.OnHold + amount, Currency = currency, Declined = null },
            PaymentDeclined declined => before with { Declined = declined.Reason },
            AuthorisationDeclined declined => before with { Declined = declined.Reason },
            PaymentRefunded => before with { Balance = before.Balance - amount, Declined = null },
            PaymentFollowUp => before with
            {
                Balance = before.Balance + amount,
                OnHold = before.OnHold - amount - released,
                Declined = null,
            },
            AccountStatusChanged => before with { Status = (AccountStatus)(int)amount, Declined = null },
            _ => before with { Limit = amount, Currency = currency, Declined = null },
        };
        var isRight = stored.Fact switch
        {
            CreditLimitChanged => fits,
            AccountStatusChanged => after.Status != AccountStatus.Closed || (before.Balance == 0 && before.OnHold == 0),
            PaymentFollowUp fact =>
                fits && Follow(new CommandId(fact.PaymentId, stored.StreamId), fact, amount, released),
            _ => after.Declined == reason && Begin(Id(stored), stored.Fact, amount),
        };
        Require(
            isRight, $"{stored.Fact} is stored at version {stored.Version} of {stored.StreamId}, which was {before}");
        Require(
            stored.Fact.Balance == after.Balance && (stored.Fact.OnHold ?? 0) == after.OnHold
                && (stored.Fact.Status ?? AccountStatus.Open) == after.Status
            && stored.Recorded.Version == stored.Version && Decimal(stored.Recorded.Balance) == after.Balance,
            $"the event at version {stored.Version} of {stored.StreamId} says version {stored.Recorded.Version}, "
                + $"balance {stored.Recorded.Balance}, on hold {stored.Fact.OnHold}, status {stored.Fact.Status}");
        Require(
            stored.Fact.Notes == Notes.Of(stored.Recorded.Notes),
            $"the event at version {stored.Version} of {stored.StreamId} has other notes than are published");
        return after with { Version = stored.Version, TransactionId = stored.Fact.TransactionId };
    }

    private bool Begin(CommandId id, AccountEvent fact, decimal amount) => _payments.TryAdd(id, new PaymentRecord
    {
        Charged = fact is PaymentAccepted ? amount : 0,
        Held = fact is PaymentAuthorised ? amount : 0,
        ExpiresAt = (fact as PaymentAuthorised)?.ExpiresAt,
        IsDeclined = fact is PaymentDeclined or AuthorisationDeclined,
    });

    // Returns whether the event may follow the payment's events before it, and states what it leads to.
    private bool Follow(CommandId id, PaymentFollowUp fact, decimal amount, decimal released)
    {
        if (!_payments.TryGetValue(id, out var payment))
        {
            return false;
        }
        if (fact is PaymentRefunded)
        {
            payment.Refunded += amount;
        }
        else
        {
            payment.Charged += amount;
            payment.Held -= amount + released;
        }
        var isSomething = fact is not (AuthorisationVoided or AuthorisationExpired)
            || (released > 0 && payment.Held == 0);
        return isSomething && payment.Held >= 0 && payment.Refunded <= payment.Charged
            && (fact.Charged, fact.Refunded, fact.Held) == (payment.Charged, payment.Refunded, payment.Held);
    }

    // What the answers to all kinds of changes have: the account after the event, and when it was decided. Copies of a
    // request get the same answer, but one of them at most is told that the event was recorded for it.
    private void RequireAnswer(CommandId id, State state, IMessage answer)
    {
        Require(
            Decimal((Money)Value(answer, "balance")) == state.Balance
                && Decimal((Money)Value(answer, "on_hold")) == state.OnHold,
            $"{id} was answered with {answer}; the account is {state}");
        RequireTime(FactOf(id.StreamId, state.Version), (Timestamp)Value(answer, "decide_time"));
        Require(
            (bool)Value(answer, "replayed") || _recordedFor.Add(id),
            $"two copies of {id} were told that it was recorded for them");
        var same = answer.Descriptor.Parser.ParseFrom(answer.ToByteArray());
        same.Descriptor.FindFieldByName("replayed").Accessor.Clear(same);
        Require(
            _answers.TryAdd(id, same) || _answers[id].Equals(same),
            $"two answers to {id} differ: {_answers[id]}, {same}");
    }

    private sealed record PaymentRecord
    {
        public required decimal Charged { get; set; }
        public decimal Refunded { get; set; }
        public required decimal Held { get; set; }
        public required DateTimeOffset? ExpiresAt { get; init; }
        public required bool IsDeclined { get; init; }
    }

    private sealed record State(
        long Version, decimal Balance, decimal OnHold, decimal? Limit, string? Currency, AccountStatus Status,
        Guid TransactionId, DeclineReason? Declined);
}
