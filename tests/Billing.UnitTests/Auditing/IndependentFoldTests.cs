using System.Text;
using Billing.Auditing;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Writes;
using Billing.UnitTests.Testing;
using Billing.V1;
using FsCheck;
using FsCheck.Fluent;
using Marten;

namespace Billing.UnitTests.Auditing;

/// <summary>Compares the auditor's computation and rules with those of the backends, for histories that the
/// backends decided.</summary>
public sealed class IndependentFoldTests
{
    private const string Stream = "visa/a";
    private static readonly Dictionary<string, decimal> Opening = new() { ["USD"] = 100, ["EUR"] = 40 };
    private static readonly DateTimeOffset Now = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    // Small amounts and limits, so that every outcome occurs often.
    private static readonly Gen<AccountCommand> Commands =
        from id in Generate.TransactionId
        from cents in Gen.Choose(1, 80_00)
        from currency in Gen.Frequency((9, Gen.Constant("USD")), (1, Gen.Constant("EUR")))
        from command in Gen.Frequency(
            (6, Gen.Constant<AccountCommand>(new Payment(id, cents / 100m, currency))),
            (2, Generate.TransactionId.Select(AccountCommand (of) => new Refund(id, of, cents / 200m, currency))),
            (3, Gen.Constant<AccountCommand>(new Authorisation(id, cents / 100m, currency, TimeSpan.FromHours(1)))),
            (3, Generate.TransactionId.Select(
                AccountCommand (of) => new Capture(id, of, cents / 200m, currency, IsFinal: cents % 3 == 0))),
            (1, Generate.TransactionId.Select(AccountCommand (of) => new Voiding(id, of))),
            (1, Generate.TransactionId.Select(AccountCommand (of) => new Expiring(id, of, Now.AddHours(cents % 2)))),
            (1, Gen.Constant<AccountCommand>(new CreditLimitChange(id, cents / 25m, currency))),
            (1, Gen.Elements(AccountStatus.Open, AccountStatus.Open, AccountStatus.Frozen, AccountStatus.Closed)
                .Select(AccountCommand (to) => new AccountStatusChange(id, to))))
        select command;

    /// <summary>Histories of an account, with all kinds of events.</summary>
    internal static readonly Gen<List<AccountEvent>> Histories = Commands.NonEmptyListOf()
        .Select(commands => Decided([.. commands])).Where(history => history.Count > 0);

    private readonly StoreOptions _options = new();

    public IndependentFoldTests() => EventTypes.Configure(_options, "billing");

    [Fact]
    public void The_auditor_agrees_with_the_decisions_of_the_backends() => Histories.Holds(history =>
    {
        var (ledger, unbalanced) = Audit(history);

        Assert.Empty(ledger.Misjudged);
        Assert.Empty(unbalanced);
        Assert.Equal([(Stream, (long)history.Count, Folded(history).Balance)], ledger.Accounts);
    });

    [Fact]
    public void They_have_all_kinds_of_events() => Assert.Equal(
        WriteKinds.Events.Select(kind => kind.Name).Order(StringComparer.Ordinal),
        Histories.Sample(200, new Rnd(20260131, 12345), 20).SelectMany(history => history)
            .Select(fact => WriteKinds.Of(fact).Name).Distinct().Order(StringComparer.Ordinal));

    [Fact]
    public void A_reversed_decision_is_found() => (
        from history in Histories
        from at in Gen.Choose(0, history.Count - 1)
        where history[at] is PaymentAccepted or PaymentDeclined
        select (history, at)).Holds(planted =>
    {
        var (history, at) = planted;
        history[at] = history[at] switch
        {
            PaymentAccepted e => new PaymentDeclined(
                e.TransactionId, e.Amount, e.Currency, DeclineReason.CreditLimitExceeded, e.DecidedAt)
            {
                Balance = e.Balance,
            },
            PaymentDeclined e => new PaymentAccepted(e.TransactionId, e.Amount, e.Currency, e.DecidedAt)
            {
                Balance = e.Balance,
            },
            var e => e,
        };

        Assert.Contains(
            Audit(history).Ledger.Misjudged,
            found => found.StartsWith(
                FormattableString.Invariant($"{Stream} version {at + 1}: "), StringComparison.Ordinal));
    });

    [Fact]
    public void A_wrong_reason_is_found() => (
        from history in Histories
        from at in Gen.Choose(0, history.Count - 1)
        where history[at] is PaymentDeclined
        select (history, at)).Holds(planted =>
    {
        var (history, at) = planted;
        var declined = (PaymentDeclined)history[at];
        history[at] = declined with
        {
            Reason = declined.Reason == DeclineReason.CurrencyMismatch
                ? DeclineReason.CreditLimitExceeded
                : DeclineReason.CurrencyMismatch,
        };

        Assert.Contains(
            "declined for reason", Assert.Single(Audit(history).Ledger.Misjudged), StringComparison.Ordinal);
    });

    [Fact]
    public void An_account_that_is_closed_though_it_is_not_empty_and_a_status_that_no_event_gave_it_are_found()
    {
        var paid = new PaymentAccepted(Guid.NewGuid(), 5, "USD", Now) { Balance = 5 };
        var closed = new AccountStatusChanged(
            Guid.NewGuid(), Now)
        { Balance = 5, Status = AccountStatus.Closed, KeptIn = "USD" };
        var thawed = new PaymentDeclined(
            Guid.NewGuid(), 5, "USD", DeclineReason.AccountClosed, Now)
        { Balance = 5, KeptIn = "USD" };

        var (ledger, unbalanced) = Audit([paid, closed, thawed]);

        Assert.StartsWith(
            $"{Stream} version 2: closed with balance 5", Assert.Single(ledger.Misjudged), StringComparison.Ordinal);
        Assert.Equal($"{Stream} version 3 states the status 1; the events up to it leave 3", Assert.Single(unbalanced));
    }

    [Theory]
    [InlineData("payment_accepted_v1", """{"Amount":1,"Currency":"USD"}""", "TransactionId is missing")]
    [InlineData(
        "payment_accepted_v1",
        """{"TransactionId":"01234567-89ab-cdef-0123-456789abcdef","Currency":"USD"}""", "Amount is missing")]
    [InlineData(
        "payment_declined_v1",
        """{"TransactionId":"01234567-89ab-cdef-0123-456789abcdef","Amount":1,"Currency":"USD","Balance":1}""",
        "Reason is missing")]
    [InlineData(
        "payment_accepted_v1",
        """{"TransactionId":"01234567-89ab-cdef-0123-456789abcdef","Amount":1,"Currency":"USD"}""",
        "Balance is missing")]
    [InlineData("credit_limit_changed_v1", """{"Limit":1,"Currency":"USD"}""", "TransactionId is missing")]
    [InlineData(
        "credit_limit_changed_v1",
        """{"TransactionId":"01234567-89ab-cdef-0123-456789abcdef","Limit":1,"Currency":null}""", "Currency is null")]
    [InlineData(
        "payment_refunded_v1",
        """{"TransactionId":"01234567-89ab-cdef-0123-456789abcdef","Amount":1,"Currency":"USD","Balance":1}""",
        "PaymentId is missing")]
    [InlineData("payment_forgotten_v9", "{}", "'payment_forgotten_v9'")]
    [InlineData("payment_accepted_v1", "[1]", "")]
    [InlineData("payment_accepted_v1", "{", "")]
    public void An_invalid_event_is_rejected(string type, string json, string message) =>
        Assert.Contains(
            message, Assert.Throws<FormatException>(() => StoredFact.Read(type, Encoding.UTF8.GetBytes(json))).Message,
            StringComparison.Ordinal);

    [Fact]
    public void The_auditor_uses_neither_the_backends_domain_nor_their_reader_of_events() => Assert.Empty(
        from file in Repository.Files("src/Auditing", "*.cs")
        from line in Repository.Lines(file)
        where line.Contains("Backends.Domain", StringComparison.Ordinal)
            || line.Contains("EventTypes", StringComparison.Ordinal)
        select $"{file}: {line}");

    [Fact]
    public void Neither_the_auditor_nor_the_journals_use_the_platforms_conversion_of_money() => Assert.Empty(
        from file in Repository.Files("src/Auditing", "*.cs").Concat(Repository.Files("src/Journals", "*.cs"))
        from line in Repository.Lines(file)
        where line.Contains(".ToDecimal()", StringComparison.Ordinal)
            || line.Contains("MoneyExtensions", StringComparison.Ordinal)
        select $"{file}: {line}");

    private static List<AccountEvent> Decided(IReadOnlyList<AccountCommand> commands)
    {
        var history = new List<AccountEvent>();
        foreach (var command in commands)
        {
            var payments = history.FindAll(fact => PaymentState.Of(fact) is not null);
            // Of one of the payments before it.
            var of = command.PaymentId is { } id && payments.Count > 0
                ? payments[id.ToByteArray()[0] % payments.Count].TransactionId
                : Guid.Empty;
            AccountCommand about = command switch
            {
                Refund refund => refund with { Of = of },
                Capture capture => capture with { Of = of },
                Voiding voiding => voiding with { Of = of },
                Expiring expiry => expiry with { Of = of },
                _ => command,
            };
            var decided = about.Decide(Folded(history), StateOf(history, of), Now);
            if (decided.Event is { } fact)
            {
                history.Add(fact);
            }
        }
        return history;
    }

    private static PaymentState? StateOf(List<AccountEvent> history, Guid id) =>
        PaymentState.Of(history.Find(fact => fact.TransactionId == id)) is { } state
            ? history.OfType<PaymentFollowUp>().Where(fact => fact.PaymentId == id)
                .Aggregate(state, (before, fact) => before.After(fact))
            : null;

    private static Account Folded(IEnumerable<AccountEvent> history) =>
        history.Aggregate(Account.Opened(new OpeningLimits(Opening)), (account, fact) => account.Apply(fact));

    private (AccountLedger Ledger, Findings Unbalanced) Audit(List<AccountEvent> history)
    {
        var unbalanced = new Findings();
        var ledger = new AccountLedger(
            Opening, new TransactionLedger(0, unbalanced, new RealTimeOrder(TimeSpan.Zero)),
            new AnsweredBalances(unbalanced), unbalanced);
        foreach (var held in history.OfType<PaymentAuthorised>()
            .Where(fact => StateOf(history, fact.TransactionId)!.Held > 0))
        {
            ledger.AddHold(Stream, held.TransactionId);
        }
        for (var i = 0; i < history.Count; i++)
        {
            ledger.AddEvent(Stream, i + 1, Stored(history[i]));
        }
        return (ledger, unbalanced);
    }

    private StoredFact Stored(AccountEvent fact) =>
        StoredFact.Read(WriteKinds.Of(fact).Name, Encoding.UTF8.GetBytes(_options.Serializer().ToJson(fact)));
}
