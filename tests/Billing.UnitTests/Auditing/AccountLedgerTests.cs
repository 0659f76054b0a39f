using System.Globalization;
using Billing.Auditing;
using Billing.Journals;
using Billing.V1;
using PaymentTotals = Billing.Auditing.PaymentTotals;

namespace Billing.UnitTests.Auditing;

public sealed class AccountLedgerTests
{
    private const string Stream = "visa/a";

    private static readonly Dictionary<string, decimal> OpeningLimits = new() { ["USD"] = 10_000, ["EUR"] = 40 };

    private readonly Findings _unbalanced = new();
    private readonly TransactionLedger _transactions;
    private readonly AnsweredBalances _told;
    private readonly AccountLedger _accounts;

    public AccountLedgerTests()
    {
        _transactions = new TransactionLedger(0, _unbalanced, new RealTimeOrder(TimeSpan.Zero));
        _told = new AnsweredBalances(_unbalanced);
        _accounts = new AccountLedger(OpeningLimits, _transactions, _told, _unbalanced);
    }

    [Theory]
    [InlineData(1, 2, 3, 4, 5)]
    [InlineData(5, 4, 3, 2, 1)]
    [InlineData(3, 1, 5, 2, 4)]
    public void Events_may_be_added_in_any_order(params int[] order)
    {
        _accounts.AddStream(Stream, 5);

        Add(order);

        Assert.Empty(_accounts.Holes);
        Assert.Empty(_unbalanced);
        Assert.Equal([(Stream, 5L, 15m)], _accounts.Accounts);
    }

    [Fact]
    public void Missing_versions_are_found_and_the_events_after_them_are_applied()
    {
        _accounts.AddStream(Stream, 6);

        Add(1, 2, 6);

        Assert.Equal("visa/a: versions 3 to 5 are missing", Assert.Single(_accounts.Holes));
        Assert.Equal([(Stream, 6L, 9m)], _accounts.Accounts);
    }

    [Fact]
    public void A_duplicate_version_is_found()
    {
        _accounts.AddStream(Stream, 2);

        Add(1, 2, 2);

        Assert.Equal("visa/a: version 2 is duplicated", Assert.Single(_accounts.Holes));
    }

    [Fact]
    public void A_stream_that_is_missing_in_mt_streams_is_found()
    {
        Add(1);

        Assert.Equal(
            "visa/a: mt_streams has version none, the last event is version 1", Assert.Single(_accounts.Holes));
    }

    [Theory]
    [InlineData(2, 3, null)]
    [InlineData(0, 0, null)]
    [InlineData(2, 4, "visa/a: answered balance 4 of version 2; the events up to it sum up to 3")]
    [InlineData(4, 6, "visa/a: answered balance 6 of version 4, but no event has this version")]
    [InlineData(0, 1, "visa/a: answered balance 1 of version 0, at which nothing is owed")]
    public void An_answered_balance_is_compared_with_the_events_up_to_its_version(
        int version, int balance, string? fault)
    {
        _accounts.AddStream(Stream, 3);
        _told.Add(Told(version, balance));

        Add(1, 2, 3);

        Assert.Equal(fault ?? "", string.Join("", _unbalanced));
        Assert.Equal(1, _told.Count);
    }

    [Fact]
    public void Two_answered_balances_of_the_same_version_must_be_equal()
    {
        _accounts.AddStream(Stream, 2);
        _told.Add(Told(2, 3));
        _told.Add(Told(2, 3));
        _told.Add(Told(2, 5));

        Add(1, 2);

        Assert.Equal("visa/a: answered balance 3 and balance 5, both of version 2", Assert.Single(_unbalanced));
        Assert.Equal(3, _told.Count);
    }

    [Theory]
    [InlineData(2, 2, 0)]
    [InlineData(3, 2, 0)]
    [InlineData(1, 2, 1)]
    public void A_balance_older_than_requested_is_found(int version, int minVersion, int found)
    {
        _told.Add(Told(version, 0) with { MinVersion = minVersion });

        Assert.Equal(found, _told.Stale.Count);
        Assert.All(_told.Stale, stale =>
            Assert.Equal("visa/a: answered a balance of version 1 to a request for version 2 or later", stale));
    }

    [Theory]
    [InlineData("accepted 60 USD", "limit 50 USD", "accepted, though balance 0 and the payment are above the limit 50")]
    [InlineData("accepted 10000.01 USD", "", "accepted, though balance 0 and the payment are above the limit 10000")]
    [InlineData("accepted 40.01 EUR", "", "accepted, though balance 0 and the payment are above the limit 40")]
    [InlineData("accepted 0.01 CHF", "", "accepted, though balance 0 and the payment are above the limit 0")]
    [InlineData(
        "declined 50 USD 1", "limit 50 USD", "declined, though balance 0 and the payment are within the limit 50")]
    [InlineData("declined 60 USD 2", "limit 50 USD", "declined for reason 2, which should be 1")]
    [InlineData("declined 60 USD 0", "limit 50 USD", "declined for reason 0, which should be 1")]
    [InlineData("accepted 1 EUR", "accepted 1 USD", "accepted, though the account is kept in USD")]
    [InlineData("declined 1 EUR 1", "limit 50 USD", "declined for reason 1, which should be 2")]
    [InlineData(
        "declined 1 USD 2", "accepted 1 USD", "declined, though balance 1 and the payment are within the limit 10000")]
    [InlineData("accepted 0 USD", "accepted 1 USD", "an amount that is not above zero")]
    [InlineData("limit -1 USD", "accepted 1 USD", "a limit below zero")]
    [InlineData("limit 5 EUR", "accepted 1 USD", "a limit in another currency than the account's USD")]
    public void An_event_that_violates_the_rules_is_found(string planted, string before, string fault)
    {
        var facts = before.Length == 0 ? [Fact(planted)] : new[] { Fact(before), Fact(planted) };
        _accounts.AddStream(Stream, facts.Length);

        for (var i = 0; i < facts.Length; i++)
        {
            _accounts.AddEvent(Stream, i + 1, facts[i]);
        }
        _accounts.Conclude();

        Assert.StartsWith(
            $"visa/a version {facts.Length}: {fault}; {facts[^1].TransactionId}",
            Assert.Single(_accounts.Misjudged), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("accepted 10 USD", "refunded 4, refunded 6", "")]
    [InlineData(
        "accepted 10 USD", "refunded 4, refunded 6.01",
        "version 3: Refunded of 6.01 leads from charged 10, refunded 4, held 0 to charged 10, refunded 10.01, "
            + "held 0 of {0}")]
    [InlineData(
        "declined 20000 USD 1", "refunded 1",
        "version 2: Refunded of {0} in USD, which is visa/a version 1: Declined USD 20000, balance 0, reason 1")]
    [InlineData(
        "limit 20 USD", "refunded 1",
        "version 2: Refunded of {0} in USD, which is visa/a version 1: LimitChanged USD 20, balance 0")]
    [InlineData("", "refunded 1", "version 1: Refunded of {0} in USD, which is not there")]
    [InlineData("authorised 10 USD", "captured 4, captured 6, refunded 10", "")]
    [InlineData("authorised 10 USD", "captured 4 6", "")]
    [InlineData(
        "authorised 10 USD", "captured 4, captured 6.01",
        "version 3: Captured of 6.01 leads from charged 4, refunded 0, held 6 to charged 10.01, refunded 0, "
            + "held -0.01 of {0}")]
    [InlineData(
        "authorised 10 USD", "captured 4, refunded 5",
        "version 3: Refunded of 5 leads from charged 4, refunded 0, held 6 to charged 4, refunded 5, held 6 of {0}")]
    [InlineData("authorised 10 USD", "captured 4, voided 6", "")]
    [InlineData(
        "authorised 10 USD", "expired 9",
        "version 2: Expired of 0 leads from charged 0, refunded 0, held 10 to charged 0, refunded 0, held 1 of {0}")]
    [InlineData(
        "authorised 10 USD", "expired 10, expired 0",
        "version 3: Expired of 0 leads from charged 0, refunded 0, held 0 to charged 0, refunded 0, held 0 of {0}")]
    [InlineData(
        "authorised 10 USD", "voided 10, captured 1",
        "version 3: Captured of 1 leads from charged 0, refunded 0, held 0 to charged 1, refunded 0, held -1 of {0}")]
    [InlineData(
        "unauthorised 20000 USD 1", "captured 1",
        "version 2: Captured of {0} in USD, which is visa/a version 1: "
            + "AuthorisationDeclined USD 20000, balance 0, reason 1")]
    public void What_becomes_of_a_payment_is_judged(string before, string after, string fault)
    {
        var payment = before.Length == 0 ? null : Fact(before);
        var (id, version) = (payment?.TransactionId ?? Guid.NewGuid(), 0);
        var totals = new PaymentTotals(
            payment?.Kind == TransactionKind.Accepted ? payment.Amount : 0, 0,
            payment?.Kind == TransactionKind.Authorised ? payment.Amount : 0);
        var account = new AuditedAccount(0, 10_000, null);
        foreach (var fact in FollowUps(after, id, totals).Prepend(payment).OfType<StoredFact>())
        {
            account = account.After(fact);
            _accounts.AddEvent(Stream, ++version, fact with
            {
                Balance = account.Balance,
                OnHold = account.OnHold,
                KeptIn = account.Currency,
            });
        }

        Assert.Equal(
            fault.Length == 0 ? "" : "visa/a " + string.Format(CultureInfo.InvariantCulture, fault, id),
            string.Join("; ", _accounts.Misjudged));
        Assert.Empty(_unbalanced);
    }

    [Theory]
    [InlineData(
        10, 3, 0,
        "visa/a version 2 states charged 10, refunded 3, held 0 of {0}; it is charged 10, refunded 4, held 0")]
    [InlineData(
        9, 4, 0, "visa/a version 2 states charged 9, refunded 4, held 0 of {0}; it is charged 10, refunded 4, held 0")]
    [InlineData(
        10, 4, 1,
        "visa/a version 2 states charged 10, refunded 4, held 1 of {0}; it is charged 10, refunded 4, held 0")]
    public void What_an_event_states_of_its_payment_is_compared(int charged, int refunded, int held, string fault)
    {
        var payment = Fact("accepted 10 USD");
        _accounts.AddEvent(Stream, 1, payment with { Balance = 10 });

        _accounts.AddEvent(Stream, 2, new StoredFact(TransactionKind.Refunded, Guid.NewGuid(), 4, "USD", Balance: 6)
        {
            Payment = (payment.TransactionId, new PaymentTotals(charged, refunded, held)),
        });

        Assert.Equal(
            string.Format(CultureInfo.InvariantCulture, fault, payment.TransactionId), Assert.Single(_unbalanced));
    }

    [Fact]
    public void A_hold_counts_in_every_check_of_the_limit()
    {
        _accounts.AddEvent(Stream, 1, Fact("limit 50 USD"));
        _accounts.AddEvent(Stream, 2, Fact("authorised 30 USD"));
        _accounts.AddEvent(Stream, 3, Fact("accepted 20.01 USD"));
        _accounts.AddEvent(Stream, 4, Fact("unauthorised 1 USD 1"));

        Assert.StartsWith(
            "visa/a version 3: accepted, though balance 0, 30 on hold and the payment are above the limit 50;",
            Assert.Single(_accounts.Misjudged), StringComparison.Ordinal);
    }

    [Fact]
    public void What_is_on_hold_is_compared_with_what_events_state_and_with_the_list_of_open_holds()
    {
        var (held, listed) = (Fact("authorised 30 USD") with { Balance = 0, OnHold = 29 }, Guid.NewGuid());
        _accounts.AddStream(Stream, 1);
        _accounts.AddHold(Stream, listed);

        _accounts.AddEvent(Stream, 1, held);
        _accounts.Conclude();

        Assert.Equal(
            (string[])
            [
                "visa/a version 1 states that 29 is on hold; the events up to it leave 30",
                $"visa/a: {held.TransactionId} is on hold and not among the open holds",
                $"visa/a: {listed} is among the open holds and not on hold",
            ],
            _unbalanced);
    }

    [Fact]
    public void Payments_up_to_the_limit_are_accepted_and_those_above_it_or_in_another_currency_are_declined()
    {
        string[] facts =
        [
            "declined 10000.01 USD 1", "limit 50 USD", "accepted 49.99 USD", "accepted 0.01 USD",
            "declined 0.01 USD 1", "declined 0.01 EUR 2",
            "limit 20 USD", "declined 1 USD 1", "limit 60 USD", "accepted 10 USD",
        ];

        for (var i = 0; i < facts.Length; i++)
        {
            _accounts.AddEvent(Stream, i + 1, Fact(facts[i]));
        }

        Assert.Empty(_accounts.Misjudged);
        Assert.Equal([(Stream, 10L, 60m)], _accounts.Accounts);
    }

    [Fact]
    public void An_unknown_opening_limit_is_not_checked()
    {
        var accounts = new AccountLedger(openingLimits: null, _transactions, _told, _unbalanced);

        accounts.AddEvent(Stream, 1, Fact("accepted 20000 USD"));
        accounts.AddEvent(Stream, 2, Fact("declined 1 USD 1"));
        accounts.AddEvent(Stream, 3, Fact("declined 1 USD 2"));

        Assert.StartsWith(
            "visa/a version 3: declined for reason 2", Assert.Single(accounts.Misjudged), StringComparison.Ordinal);
    }

    [Fact]
    public void Events_after_an_unreadable_event_are_not_judged()
    {
        _accounts.AddEvent(Stream, 1, null);
        _accounts.AddEvent(Stream, 2, Fact("declined 1 USD 1"));

        Assert.Empty(_accounts.Misjudged);
    }

    private static JournalEntry Told(int version, decimal balance) => new(
        Guid.Empty, Stream, "USD", 0, PaymentFate.Unknown, version, balance, DeclineReason.Unspecified,
        new CallSpan(1, 2));

    private static List<StoredFact> FollowUps(string after, Guid payment, PaymentTotals totals)
    {
        var facts = new List<StoredFact>();
        foreach (var words in after.Split(", "))
        {
            facts.Add(FollowUp(words, payment, ref totals));
        }
        return facts;
    }

    // "captured 4 6" releases 6 as well; "voided 6" and "expired 6" release only.
    private static StoredFact FollowUp(string words, Guid payment, ref PaymentTotals totals)
    {
        var word = words.Split(' ');
        var amounts = word[1..].Select(text => decimal.Parse(text, CultureInfo.InvariantCulture)).ToList();
        var (kind, amount, released) = word[0] switch
        {
            "refunded" => (TransactionKind.Refunded, amounts[0], 0),
            "captured" => (TransactionKind.Captured, amounts[0], amounts.ElementAtOrDefault(1)),
            "voided" => (TransactionKind.Voided, 0, amounts[0]),
            _ => (TransactionKind.Expired, 0, amounts[0]),
        };
        var fact = new StoredFact(kind, Guid.NewGuid(), amount, "USD", Balance: 0) { Released = released };
        totals = totals.After(fact);
        return fact with { Payment = (payment, totals) };
    }

    /// <summary>Parses an event: its kind, amount, currency and, optionally, reason. It states a balance of zero.
    /// </summary>
    private static StoredFact Fact(string words)
    {
        var word = words.Split(' ');
        var kind = word[0] switch
        {
            "accepted" => TransactionKind.Accepted,
            "authorised" => TransactionKind.Authorised,
            "unauthorised" => TransactionKind.AuthorisationDeclined,
            "declined" => TransactionKind.Declined,
            _ => TransactionKind.LimitChanged,
        };
        return new StoredFact(
            kind, Guid.NewGuid(), decimal.Parse(word[1], CultureInfo.InvariantCulture), word[2], Balance: 0,
            Reason: word.Length > 3 ? int.Parse(word[3], CultureInfo.InvariantCulture) : 0);
    }

    /// <summary>Adds one event for each version, with the version as its amount; each states the sum of all up to it.
    /// </summary>
    private void Add(params int[] versions)
    {
        foreach (var version in versions)
        {
            var balance = version * (version + 1) / 2;
            _accounts.AddEvent(
                Stream, version, new StoredFact(TransactionKind.Accepted, Guid.NewGuid(), version, "USD", balance));
        }
        _accounts.Conclude();
    }
}
