using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Writes;
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

    [Theory]
    [MemberData(nameof(SampleHistory.Kinds), MemberType = typeof(SampleHistory))]
    public void A_published_event_is_stored_again_with_the_hash_that_it_had(string kind) =>
        Assert.All(SampleHistory.Events.Where(e => e.Event.Body.Type == kind), e =>
        {
            var (account, stored) = e;
            var published = Wire.V1.Event.Parser.ParseFrom(
                Google.Protobuf.MessageExtensions.ToByteArray(stored.Recorded));

            var again = NewEvent.OfStored(SampleHistory.Stream, published.ToStored()!, account);

            Assert.Equal(stored.Body.Hash, again.Body.Hash);
            Assert.Equal(stored.Recorded, again.Recorded);
            Assert.Equal(stored.Body.Hash, Convert.ToBase64String(published.Hash.Span));
        });

    private static Wire.V1.Event Record(AccountEvent fact) =>
        RecordedEvent.ToWire("visa/acct-42", 1, fact.StatedOn(Limits.Opened(10_000)));

    private sealed record UnknownEvent : AccountEvent
    {
        public override Guid TransactionId { get; init; }

        public override DateTimeOffset DecidedAt { get; init; }

        public override string? TraceId { get; init; }

        internal override string? AccountCurrency => null;

        internal override Account ApplyTo(Account account) => account;
    }
}
