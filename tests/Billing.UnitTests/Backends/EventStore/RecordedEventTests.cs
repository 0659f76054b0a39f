using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using Timestamp = Google.Protobuf.WellKnownTypes.Timestamp;

namespace Billing.UnitTests.Backends.EventStore;

public sealed class RecordedEventTests
{
    private static readonly DateTimeOffset Now = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);
    private static readonly Guid Id = Guid.Parse(Samples.TransactionId);

    [Fact]
    public void An_accepted_payment_is_answered_with_the_balance_and_version_after_it()
    {
        var response = PaymentWrite.ToResponse(Record(new PaymentAccepted(Id, 10.25m, "USD", Now) { Balance = 0 }));
        Assert.Equal(
            new MakePaymentResponse
            {
                TransactionId = Samples.TransactionId,
                Outcome = PaymentOutcome.Accepted,
                Balance = Samples.Dollars(10, 250_000_000),
                OnHold = Samples.Dollars(0),
                DecideTime = Timestamp.FromDateTimeOffset(Now),
                Version = 1,
            },
            response);
    }

    [Theory]
    [InlineData(DeclineReason.CreditLimitExceeded, "more than the account may still spend")]
    [InlineData(DeclineReason.CurrencyMismatch, "another currency")]
    [InlineData(DeclineReason.AccountFrozen, "frozen")]
    [InlineData(DeclineReason.AccountClosed, "closed")]
    [InlineData((DeclineReason)9, "declined")]
    public void A_declined_payment_is_answered_with_the_reason_and_a_message(DeclineReason reason, string words)
    {
        var response = PaymentWrite.ToResponse(Record(new PaymentDeclined(Id, 10, "USD", reason, Now) { Balance = 0 }));
        Assert.Equal(PaymentOutcome.Declined, response.Outcome);
        Assert.Equal(reason, response.DeclineReason);
        Assert.Contains(words, response.Message, StringComparison.Ordinal);
        Assert.Equal(1, response.Version);
        Assert.Equal(new Money(), response.Balance);
    }

    [Fact]
    public void The_recorded_event_contains_the_request()
    {
        var accepted = Record(new PaymentAccepted(Id, 10, "USD", Now) { Balance = 0 });
        var declined = Record(
            new PaymentDeclined(Id, 11, "USD", DeclineReason.CreditLimitExceeded, Now) { Balance = 0 });
        Assert.Equal(Samples.Dollars(10), PaymentWrite.AmountOf(accepted));
        Assert.Equal(Samples.Dollars(11), PaymentWrite.AmountOf(declined));
        Assert.Equal("visa/acct-42", accepted.StreamId);
        Assert.Equal(Samples.TransactionId, accepted.TransactionId);
        Assert.Equal(1_769_860_800_000_000, accepted.DecidedUnixUs);
    }

    [Fact]
    public void A_limit_change_is_recorded_with_its_transaction_id_and_the_limit()
    {
        var recorded = Record(new CreditLimitChanged(Id, 500, "USD", Now) { Balance = 0 });
        Assert.Equal(Samples.TransactionId, recorded.TransactionId);
        Assert.Equal(Samples.Dollars(500), recorded.CreditLimitChanged.Limit);
        Assert.Equal(Samples.Dollars(0), recorded.Balance);
    }

    [Fact]
    public void An_event_that_the_wire_contract_does_not_define_is_refused() =>
        Assert.Throws<ArgumentOutOfRangeException>(
            () => RecordedEvent.ToWire("visa/acct-42", 1, new UnknownEvent { Balance = 0 }));

    [Fact]
    public void A_published_event_without_a_transaction_id_or_a_balance_is_none_that_a_backend_has_written()
    {
        var accepted = Record(new PaymentAccepted(Id, 10, "USD", Now) { Balance = 0 });
        var (nameless, unbalanced) = (accepted.Clone(), accepted.Clone());
        nameless.TransactionId = "";
        unbalanced.Balance = null;

        Assert.Equal(new PaymentAccepted(Id, 10, "USD", Now) { Balance = 10 }, accepted.ToFact());
        Assert.Null(nameless.ToFact());
        Assert.Null(unbalanced.ToFact());
        Assert.Null(unbalanced.ToStored());
    }

    /// <summary>The commands decide what an event states: of each kind, with all that it may have.</summary>
    [Fact]
    public void A_published_event_is_stored_again_with_the_hash_that_it_had()
    {
        var account = Account.Opened(1000) with { Incarnation = 1_790_000_000 };
        var payments = new Dictionary<Guid, PaymentState>();
        var (hold, other, paid) = (Guid.NewGuid(), Guid.NewGuid(), Guid.NewGuid());
        var times = new RequestTimes(Now, Now.AddMicroseconds(1), Now.AddMicroseconds(2));
        AccountCommand[] commands =
        [
            new AccountStatusChange(Guid.NewGuid(), AccountStatus.Open),
            new Payment(Guid.NewGuid(), 2000, "USD", times),
            new CreditLimitChange(Guid.NewGuid(), 900.10m, "USD", "4bf92f3577b34da6a3ce929d0e0e4736"),
            new Payment(paid, 10.40m, "USD", times, "4bf92f3577b34da6a3ce929d0e0e4736"),
            new Payment(Guid.NewGuid(), 0.60m, "USD"),
            new Payment(Guid.NewGuid(), 5000, "EUR"),
            new Authorisation(hold, 30.50m, "USD", TimeSpan.FromDays(7)),
            new Authorisation(other, 9.5m, "USD", TimeSpan.FromSeconds(1)),
            new Authorisation(Guid.NewGuid(), 5000, "USD", TimeSpan.FromDays(7)),
            new Capture(Guid.NewGuid(), hold, 10.25m, "USD", IsFinal: false),
            new Capture(Guid.NewGuid(), hold, 10.25m, "USD", IsFinal: true),
            new Expiring(Guid.NewGuid(), other, Now.AddDays(1)),
            new Refund(Guid.NewGuid(), paid, 0.40m, "USD"),
            new AccountStatusChange(Guid.NewGuid(), AccountStatus.Frozen),
        ];
        var kinds = new HashSet<Wire.V1.Event.FactOneofCase>();
        foreach (var command in commands)
        {
            var sent = command with { By = new Sender("shop", "web"), Notes = Notes.Of(new PaymentNotes { Reference = "A 7", Metadata = { ["b"] = "1", ["a"] = "2" } }) };
            var of = command switch { Capture capture => capture.Of, Expiring expiry => expiry.Of, Refund refund => refund.Of, _ => Guid.Empty };
            var fact = sent.Decide(account, payments.GetValueOrDefault(of), Now).Event!;
            var stored = NewEvent.Of("visa/a", fact, account);
            var published = Wire.V1.Event.Parser.ParseFrom(Google.Protobuf.MessageExtensions.ToByteArray(stored.Recorded));

            var again = NewEvent.OfStored("visa/a", published.ToStored()!, account);

            Assert.Equal(stored.Body.Hash, again.Body.Hash);
            Assert.Equal(stored.Recorded, again.Recorded);
            Assert.Equal(stored.Body.Hash, Convert.ToBase64String(published.Hash.Span));
            Assert.True(kinds.Add(published.FactCase) || command is Payment or Authorisation or Capture or AccountStatusChange);
            if (PaymentState.Of(fact) is { } state)
            {
                payments[fact.TransactionId] = state;
            }
            else if (fact is PaymentFollowUp followUp)
            {
                payments[followUp.PaymentId] = payments[followUp.PaymentId].After(followUp);
            }
            account = stored.After;
        }
        Assert.Equal(kinds.Order(), Enum.GetValues<Wire.V1.Event.FactOneofCase>().Except([Wire.V1.Event.FactOneofCase.None, Wire.V1.Event.FactOneofCase.AuthorisationVoided]).Order());
    }

    private static Wire.V1.Event Record(AccountEvent fact) =>
        RecordedEvent.ToWire("visa/acct-42", 1, fact.StatedOn(Account.Opened(10_000)));

    private sealed record UnknownEvent : AccountEvent
    {
        public override Guid TransactionId { get; init; }

        public override DateTimeOffset DecidedAt { get; init; }

        public override string? TraceId { get; init; }

        internal override string? AccountCurrency => null;

        internal override Account ApplyTo(Account account) => account;
    }
}
