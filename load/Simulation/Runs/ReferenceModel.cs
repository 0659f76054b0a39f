using System.Globalization;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.Simulation.Services;
using Billing.Simulation.Store;
using Billing.V1;

namespace Billing.Simulation.Runs;

/// <summary>An independent record that checks the platform: the requests, the answers, and the state that each account must have
/// after each of its events, by a second implementation of the rules. Throws a <see cref="SimulationException"/> at the first
/// wrong answer or event.</summary>
internal sealed class ReferenceModel(StoreServer store)
{
    private readonly Dictionary<Guid, HashSet<(string StreamId, decimal Amount, string Currency)>> _asked = [];
    private readonly Dictionary<Guid, MakePaymentResponse> _paid = [];
    private readonly HashSet<Guid> _failed = [];
    private readonly Dictionary<Guid, SetCreditLimitResponse> _limited = [];
    private readonly Dictionary<string, List<State>> _states = new(StringComparer.Ordinal);

    /// <summary>Notes a request.</summary>
    public void Asked(Guid transactionId, string streamId, Money amount)
    {
        if (!_asked.TryGetValue(transactionId, out var requests))
        {
            _asked[transactionId] = requests = [];
        }
        requests.Add((streamId, Decimal(amount), amount.CurrencyCode));
    }

    /// <summary>Whether a transaction id was used for requests with different contents.</summary>
    public bool WasReused(Guid transactionId) => _asked[transactionId].Count > 1;

    /// <summary>Checks the answer to a payment.</summary>
    public void Paid(Guid transactionId, string streamId, MakePaymentResponse answer)
    {
        var state = StateOf(transactionId, streamId, answer.Version);
        Require(answer.TransactionId == transactionId.ToString(), "an answer names another transaction");
        Require(Decimal(answer.Balance) == state.Balance, $"a payment was answered with the balance {answer.Balance}; it is {state.Balance}");
        Require(
            answer.Outcome == (state.Declined is null ? PaymentOutcome.Accepted : PaymentOutcome.Declined)
            && (state.Declined is null || state.Declined == answer.DeclineReason),
            $"a payment was answered with {answer.Outcome} {answer.DeclineReason}; stored is {state.Declined?.ToString() ?? "accepted"}");
        Require(_paid.TryAdd(transactionId, answer) || _paid[transactionId].Equals(answer), "two answers to one payment differ");
    }

    /// <summary>Notes that a payment was answered as failed: it must not be recorded, now or later.</summary>
    public void Failed(Guid transactionId, Wire.V1.Error error)
    {
        Require(
            error.Reason is ErrorReasons.CommandExpired or ErrorReasons.ProcessingFailed,
            $"a payment failed with {error.Reason}");
        _failed.Add(transactionId);
    }

    /// <summary>Checks the answer to a change of a limit.</summary>
    public void Limited(Guid transactionId, string streamId, SetCreditLimitResponse answer)
    {
        var state = StateOf(transactionId, streamId, answer.Version);
        Require(answer.TransactionId == transactionId.ToString(), "an answer names another transaction");
        Require(Decimal(answer.Limit) == state.Limit && Decimal(answer.Balance) == state.Balance, "a limit was answered wrongly");
        Require(_limited.TryAdd(transactionId, answer) || _limited[transactionId].Equals(answer), "two answers to one limit differ");
    }

    /// <summary>Checks that a change of a limit was rightly refused because of its currency.</summary>
    public void LimitRefused(string streamId, string currency)
    {
        var now = States(streamId)[^1].Currency;
        Require(now is not null && now != currency, $"a limit in {currency} was refused for an account in {now ?? "no currency"}");
    }

    /// <summary>Checks the answer to a balance check.</summary>
    public void Checked(string streamId, long minVersion, CheckBalanceResponse answer)
    {
        var states = States(streamId);
        Require(answer.Version >= minVersion, $"a balance of version {answer.Version} was answered where {minVersion} was asked for");
        Require(answer.Version < states.Count, $"a balance of version {answer.Version} was answered; the account has {states.Count - 1}");
        var state = states[(int)answer.Version];
        Require(
            Decimal(answer.Balance) == state.Balance && Decimal(answer.CreditLimit) == state.Limit
            && Decimal(answer.Available) == Math.Max(0, state.Limit - state.Balance) && answer.Balance.CurrencyCode == (state.Currency ?? ""),
            $"at version {answer.Version} of {streamId} a balance of {answer.Balance}, limit {answer.CreditLimit} was answered; it is {state}");
    }

    /// <summary>Checks the state of an account in a view.</summary>
    public void Viewed(string streamId, Account account)
    {
        var last = States(streamId)[^1];
        Require(
            account.Version == last.Version && account.Balance == last.Balance && account.CreditLimit == last.Limit
            && account.Currency == last.Currency,
            $"a view has {streamId} as {account}; it is {last}");
    }

    /// <summary>Checks everything in the event store.</summary>
    public void CheckStore()
    {
        foreach (var streamId in store.Events.Select(e => e.StreamId).Distinct(StringComparer.Ordinal).ToList())
        {
            States(streamId);
        }
        Require(
            store.Events.Select(e => e.Recorded.TransactionId).Distinct(StringComparer.Ordinal).Count() == store.Events.Count,
            "a transaction is recorded twice");
        Require(
            !store.Events.Any(e => _failed.Contains(Guid.Parse(e.Recorded.TransactionId))), "a payment that was called failed is recorded");
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

    private State StateOf(Guid transactionId, string streamId, long version)
    {
        var states = States(streamId);
        Require(version > 0 && version < states.Count, string.Create(CultureInfo.InvariantCulture, $"version {version} of {streamId} was answered and is not stored"));
        var state = states[(int)version];
        Require(state.TransactionId == transactionId, $"version {version} of {streamId} was answered for another transaction");
        return state;
    }

    // The states by version, from 0, up to the last stored event.
    private List<State> States(string streamId)
    {
        if (!_states.TryGetValue(streamId, out var states))
        {
            _states[streamId] = states = [new State(0, 0, Settings.DefaultCreditLimit, null, Guid.Empty, null)];
        }
        foreach (var stored in store.Stream(streamId).Skip(states.Count - 1))
        {
            states.Add(Next(states[^1], stored));
        }
        return states;
    }

    private State Next(State before, Stored stored)
    {
        var (transactionId, amount, currency) = stored.Fact switch
        {
            PaymentAccepted accepted => (accepted.TransactionId, accepted.Amount, accepted.Currency),
            PaymentDeclined declined => (declined.TransactionId, declined.Amount, declined.Currency),
            CreditLimitChanged changed => (changed.TransactionId, changed.Limit, changed.Currency),
            _ => throw new SimulationException("an event is stored that nobody knows"),
        };
        Require(
            _asked.TryGetValue(transactionId, out var requests) && requests.Contains((stored.StreamId, amount, currency)),
            $"{stored.Fact} is stored in {stored.StreamId} and was never asked for");
        var fits = before.Currency is null || before.Currency == currency;
        DeclineReason? reason = !fits ? DeclineReason.CurrencyMismatch
            : before.Balance + amount > before.Limit ? DeclineReason.CreditLimitExceeded
            : null;
        var after = stored.Fact switch
        {
            PaymentAccepted => before with { Balance = before.Balance + amount, Currency = currency, Declined = null },
            PaymentDeclined declined => before with { Declined = declined.Reason },
            _ => before with { Limit = amount, Currency = currency, Declined = null },
        };
        var isRight = stored.Fact is CreditLimitChanged ? fits : after.Declined == reason;
        Require(isRight, $"{stored.Fact} is stored at version {stored.Version} of {stored.StreamId}, which was {before}");
        Require(
            stored.Recorded.Version == stored.Version && Decimal(stored.Recorded.Balance) == after.Balance,
            $"the receipt at version {stored.Version} of {stored.StreamId} says version {stored.Recorded.Version}, balance {stored.Recorded.Balance}");
        return after with { Version = stored.Version, TransactionId = transactionId };
    }

    private sealed record State(
        long Version, decimal Balance, decimal Limit, string? Currency, Guid TransactionId, DeclineReason? Declined);
}
