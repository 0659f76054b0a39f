using System.Globalization;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Simulation.Services;
using Billing.Simulation.Store;
using Billing.V1;

namespace Billing.Simulation.Runs;

/// <summary>An independent record that checks the platform: the requests, the answers, and the state that each account must have
/// after each of its events, by a second implementation of the rules. Throws a <see cref="SimulationException"/> at the first
/// wrong answer or event.</summary>
internal sealed class ReferenceModel(StoreHistory store)
{
    private readonly Dictionary<CommandId, HashSet<(decimal Amount, string Currency)>> _asked = [];
    private readonly Dictionary<CommandId, MakePaymentResponse> _paid = [];
    private readonly HashSet<CommandId> _failed = [];
    private readonly Dictionary<CommandId, SetCreditLimitResponse> _limited = [];
    private readonly Dictionary<CommandId, RefundPaymentResponse> _returned = [];
    private readonly Dictionary<CommandId, decimal> _refunded = [];
    private readonly Dictionary<string, List<State>> _states = new(StringComparer.Ordinal);

    /// <summary>Notes a request.</summary>
    public void Asked(CommandId id, Money amount)
    {
        if (!_asked.TryGetValue(id, out var requests))
        {
            _asked[id] = requests = [];
        }
        requests.Add((Decimal(amount), amount.CurrencyCode));
    }

    /// <summary>Checks the answer to a payment.</summary>
    public void Paid(CommandId id, MakePaymentResponse answer)
    {
        var state = StateOf(id, answer.Version);
        Require(answer.TransactionId == id.TransactionId.ToString(), "an answer names another transaction");
        Require(Decimal(answer.Balance) == state.Balance, $"a payment was answered with the balance {answer.Balance}; it is {state.Balance}");
        Require(
            answer.Outcome == (state.Declined is null ? PaymentOutcome.Accepted : PaymentOutcome.Declined)
            && (state.Declined is null || state.Declined == answer.DeclineReason),
            $"a payment was answered with {answer.Outcome} {answer.DeclineReason}; stored is {state.Declined?.ToString() ?? "accepted"}");
        Require(_paid.TryAdd(id, answer) || _paid[id].Equals(answer), "two answers to one payment differ");
    }

    /// <summary>Notes that a payment was answered as failed: it must not be recorded, now or later.</summary>
    public void Failed(CommandId id, Wire.V1.Error error)
    {
        Require(
            error.Reason is ErrorReasons.CommandExpired or ErrorReasons.ProcessingFailed,
            $"a payment failed with {error.Reason}");
        _failed.Add(id);
    }

    /// <summary>Checks the answer to a refund of a payment.</summary>
    public void Refunded(CommandId id, CommandId payment, RefundPaymentResponse answer)
    {
        var state = StateOf(id, answer.Version);
        Require(
            answer.TransactionId == id.TransactionId.ToString() && answer.PaymentId == payment.TransactionId.ToString()
            && Decimal(answer.Balance) == state.Balance && Decimal(answer.Refunded) <= _refunded[payment],
            $"a refund was answered with {answer}; it is {state}, and {_refunded[payment]} is given back");
        Require(_returned.TryAdd(id, answer) || _returned[id].Equals(answer), "two answers to one refund differ");
    }

    /// <summary>Checks that a refund was rightly refused. What is left of a payment only becomes less, so it will never be recorded.</summary>
    public void RefundRefused(CommandId id, CommandId payment, decimal amount, string? reason)
    {
        States(id.StreamId);
        var charged = Charged(payment);
        Require(
            reason == (charged is null ? ErrorReasons.PaymentDeclined : ErrorReasons.AmountTooLarge)
            && (charged is null || amount > charged - _refunded.GetValueOrDefault(payment)),
            $"a refund of {amount} of {charged} was refused with {reason}; {_refunded.GetValueOrDefault(payment)} is given back");
        _failed.Add(id);
    }

    /// <summary>Checks the answer to a look-up of a payment that was answered, or that was called failed. All its refunds were answered.
    /// </summary>
    public void LookedUp(CommandId id, Money amount, RecordedPayment? found)
    {
        Require(found is null == _failed.Contains(id), $"a payment was {(found is null ? "not found" : "found")} by its id after it had been {(found is null ? "answered" : "called failed")}");
        if (found is not null)
        {
            Require(found.Amount.Equals(amount), $"a payment of {amount} was found with the amount {found.Amount}");
            Require(
                Decimal(found.Refunded) == _refunded.GetValueOrDefault(id),
                $"a payment was found with refunds of {found.Refunded}; {_refunded.GetValueOrDefault(id)} is given back");
            Paid(id, new MakePaymentResponse
            {
                TransactionId = found.TransactionId,
                Outcome = found.Outcome,
                DeclineReason = found.DeclineReason,
                Message = _paid[id].Message,
                Balance = found.Balance,
                Version = found.Version,
            });
        }
    }

    /// <summary>Checks the answer to a change of a limit.</summary>
    public void Limited(CommandId id, SetCreditLimitResponse answer)
    {
        var state = StateOf(id, answer.Version);
        Require(answer.TransactionId == id.TransactionId.ToString(), "an answer names another transaction");
        Require(Decimal(answer.Limit) == state.Limit && Decimal(answer.Balance) == state.Balance, "a limit was answered wrongly");
        Require(_limited.TryAdd(id, answer) || _limited[id].Equals(answer), "two answers to one limit differ");
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
            store.Events.Select(Id).Distinct().Count() == store.Events.Count, "a transaction is recorded twice");
        Require(!store.Events.Select(Id).Any(_failed.Contains), "a payment that was called failed is recorded");
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

    private State StateOf(CommandId id, long version)
    {
        var (transactionId, streamId) = id;
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
        var (amount, currency) = stored.Fact switch
        {
            PaymentAccepted accepted => (accepted.Amount, accepted.Currency),
            PaymentDeclined declined => (declined.Amount, declined.Currency),
            CreditLimitChanged changed => (changed.Limit, changed.Currency),
            PaymentRefunded refunded => (refunded.Amount, refunded.Currency),
            _ => throw new SimulationException("an event is stored that nobody knows"),
        };
        Require(
            _asked.TryGetValue(Id(stored), out var requests) && requests.Contains((amount, currency)),
            $"{stored.Fact} is stored in {stored.StreamId} and was never asked for");
        var fits = before.Currency is null || before.Currency == currency;
        DeclineReason? reason = !fits ? DeclineReason.CurrencyMismatch
            : before.Balance + amount > before.Limit ? DeclineReason.CreditLimitExceeded
            : null;
        var after = stored.Fact switch
        {
            PaymentAccepted => before with { Balance = before.Balance + amount, Currency = currency, Declined = null },
            PaymentDeclined declined => before with { Declined = declined.Reason },
            PaymentRefunded => before with { Balance = before.Balance - amount, Declined = null },
            _ => before with { Limit = amount, Currency = currency, Declined = null },
        };
        var isRight = stored.Fact switch
        {
            CreditLimitChanged => fits,
            PaymentRefunded refund => fits && IsRight(refund, new CommandId(refund.PaymentId, stored.StreamId)),
            _ => after.Declined == reason,
        };
        Require(isRight, $"{stored.Fact} is stored at version {stored.Version} of {stored.StreamId}, which was {before}");
        Require(
            stored.Fact.Balance == after.Balance && stored.Recorded.Version == stored.Version && Decimal(stored.Recorded.Balance) == after.Balance,
            $"the event at version {stored.Version} of {stored.StreamId} says version {stored.Recorded.Version}, balance {stored.Recorded.Balance}");
        return after with { Version = stored.Version, TransactionId = stored.Fact.TransactionId };
    }

    private bool IsRight(PaymentRefunded refund, CommandId payment)
    {
        var total = _refunded[payment] = _refunded.GetValueOrDefault(payment) + refund.Amount;
        return Charged(payment) is { } charged && total <= charged && refund.Charged == charged && refund.Refunded == total;
    }

    // Null for a payment that is not accepted.
    private decimal? Charged(CommandId payment) =>
        store.Stream(payment.StreamId).Select(stored => stored.Fact).OfType<PaymentAccepted>()
            .FirstOrDefault(fact => fact.TransactionId == payment.TransactionId)?.Amount;

    private sealed record State(
        long Version, decimal Balance, decimal Limit, string? Currency, Guid TransactionId, DeclineReason? Declined);
}
