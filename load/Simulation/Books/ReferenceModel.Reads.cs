using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;

namespace Billing.Simulation.Books;

/// <content>Checks of what is read: balances, balances of the past, statements and look-ups.</content>
internal sealed partial class ReferenceModel
{
    /// <summary>Checks the answer to a look-up of a request that was answered, or that was refused for good.</summary>
    public void LookedUp(CommandId id, Contents contents, GetTransactionResponse? found)
    {
        Require(
            found is null == _refused.Contains((id, contents)),
            $"{contents} was {(found is null ? "not found" : "found")} by its id after it had been "
                + $"{(found is null ? "answered" : "refused for good")}");
        if (found is null)
        {
            return;
        }
        var state = StateOf(id, contents, found.Entry.Version);
        var fact = FactOf(id.StreamId, state.Version);
        RequireEntry(found.Entry, fact, state);
        var payment = id with { TransactionId = (fact as PaymentFollowUp)?.PaymentId ?? id.TransactionId };
        Require(
            found.Payment is not null == _payments.ContainsKey(payment),
            $"{contents} was found with the payment {found.Payment}");
        // It may have been followed up since.
        Require(
            found.Payment is not { } now || (now.PaymentId == payment.TransactionId.ToString()
                && Decimal(now.Charged) <= _payments[payment].Charged
                && Decimal(now.Refunded) <= _payments[payment].Refunded
                && Decimal(now.Held) >= _payments[payment].Held
                && now.ExpireTime?.ToDateTimeOffset().UtcTicks / 10 == _payments[payment].ExpiresAt?.UtcTicks / 10
                && (fact is not PaymentFollowUp followUp
                    || (Decimal(now.Charged) >= followUp.Charged && Decimal(now.Refunded) >= followUp.Refunded
                        && Decimal(now.Held) <= followUp.Held))),
            $"{contents} was found with the payment {found.Payment}; it is {_payments.GetValueOrDefault(payment)}");
    }

    /// <summary>Checks the answer to a balance check.</summary>
    public void Checked(string streamId, long minVersion, CheckBalanceResponse answer)
    {
        var states = States(streamId);
        Require(
            answer.Version >= minVersion,
            $"a balance of version {answer.Version} was answered where {minVersion} was asked for");
        Require(
            answer.Version < states.Count,
            $"a balance of version {answer.Version} was answered; the account has {states.Count - 1}");
        RequireState(
            streamId, answer.Version, answer.Balance, answer.CreditLimit,
            answer.OnHold, answer.Available, answer.AccountStatus);
    }

    /// <summary>Checks the answer to a question for a balance of the past.</summary>
    /// <param name="streamId">The account.</param>
    /// <param name="version">The version that was asked for; null if a time was.</param>
    /// <param name="time">The time that was asked for.</param>
    /// <param name="since">The account's version when it was asked.</param>
    /// <param name="answer">The answer.</param>
    public void WasAt(string streamId, long? version, Timestamp? time, int since, GetBalanceAtResponse answer)
    {
        var found = Enumerable.Range(since, VersionOf(streamId) - since + 1)
            .Select(end => version ?? store.Stream(streamId).Take(end)
                .LastOrDefault(stored => Micros(stored.Fact) <= Micros(time!))?.Version ?? 0);
        Require(
            found.Contains(answer.Version),
            $"a balance of version {answer.Version} of {streamId} was answered for "
                + $"{version?.ToString(System.Globalization.CultureInfo.InvariantCulture) ?? time!.ToString()}; "
                + $"it is {found.First()}");
        RequireState(
            streamId, answer.Version, answer.Balance, answer.CreditLimit,
            answer.OnHold, answer.Available, answer.AccountStatus);
        if (answer.Version > 0)
        {
            RequireTime(FactOf(streamId, answer.Version), answer.DecideTime);
        }
    }

    /// <summary>Checks that a version was rightly not found: the account did not have it when it was asked.</summary>
    public static void NotReached(long version, int since) =>
        Require(version > since, $"version {version} was called not reached; the account had {since}");

    /// <summary>Checks the entries of a statement.</summary>
    /// <param name="streamId">The account.</param>
    /// <param name="after">The version that it goes on after.</param>
    /// <param name="since">The account's version when it was asked.</param>
    /// <param name="isWhole">Whether it is all there is.</param>
    /// <param name="entries">The entries.</param>
    /// <param name="selects">Whether an entry was asked for; null for all.</param>
    public void Stated(
        string streamId, long after, int since, bool isWhole,
        IReadOnlyList<StatementEntry> entries, Func<StatementEntry, bool>? selects = null)
    {
        var expected = store.Stream(streamId).Skip((int)after)
            .Where(stored => selects?.Invoke(Selected(stored.Fact)) ?? true).ToList();
        Require(
            entries.Count <= expected.Count,
            $"a statement of {streamId} has {entries.Count} entries after {after}; there are {expected.Count}");
        for (var i = 0; i < entries.Count; i++)
        {
            var (entry, fact) = (entries[i], expected[i].Fact);
            var state = States(streamId)[(int)expected[i].Version];
            RequireEntry(entry, fact, state);
        }
        Require(
            !isWhole || entries.Count >= expected.Count(stored => stored.Version <= since),
            $"a statement of {streamId} has {entries.Count} entries after {after}; "
                + $"there were {expected.Count(stored => stored.Version <= since)} when it was asked for");
    }

    private static void RequireEntry(StatementEntry entry, AccountEvent fact, State state)
    {
        Require(
            entry.Version == state.Version && entry.TransactionId == fact.TransactionId.ToString()
            && entry.Type == WriteKinds.Of(fact).EntryType
            && Decimal(entry.Balance) == state.Balance && Decimal(entry.OnHold) == state.OnHold
            && entry.AccountStatus == state.Status
            && (Contents.Of(fact) is not { Amount: > 0, Kind: not "status" } contents
                || Decimal(entry.Amount) == contents.Amount)
            && Notes.Of(entry.Notes) == fact.Notes
            && (entry.DeclineReason == DeclineReason.Unspecified ? null : (DeclineReason?)entry.DeclineReason)
                == state.Declined,
            $"a statement has {entry}; it is {state}, {fact}");
        RequireTime(fact, entry.DecideTime);
    }

    private static StatementEntry Selected(AccountEvent fact) =>
        new() { Type = WriteKinds.Of(fact).EntryType, DecideTime = fact.DecidedAt.ToTimestamp() };

    private void RequireState(
        string streamId, long version, Money balance, Money limit, Money onHold, Money available, AccountStatus status)
    {
        var state = States(streamId)[(int)version];
        Require(
            Decimal(balance) == state.Balance && IsLimit(state, Decimal(limit)) && Decimal(onHold) == state.OnHold
                && status == state.Status
            && Decimal(available) == Math.Max(0, Decimal(limit) - state.Balance - state.OnHold)
            && balance.CurrencyCode == (state.Currency ?? ""),
            $"at version {version} of {streamId} a balance of {balance}, limit {limit} was answered; it is {state}");
    }

    private AccountEvent FactOf(string streamId, long version) => store.Stream(streamId)[(int)version - 1].Fact;

    // One precision everywhere: microseconds.
    private static void RequireTime(AccountEvent fact, Timestamp said) => Require(
        said.Nanos % 1000 == 0 && Micros(said) == Micros(fact),
        $"an event was decided at {fact.DecidedAt:O}; {said} was answered");

    private static long Micros(AccountEvent fact) => fact.DecidedAt.UtcTicks / TimeSpan.TicksPerMicrosecond;

    private static long Micros(Timestamp time) => time.ToDateTimeOffset().UtcTicks / TimeSpan.TicksPerMicrosecond;
}
