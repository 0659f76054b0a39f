using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Webhooks;
using Billing.Wire.V1;

namespace Billing.UnitTests.Webhooks;

/// <summary>What receivers get. It may gain fields; none may change or go.</summary>
public sealed class EventBodyTests
{
    private static readonly Money Amount = new() { CurrencyCode = "USD", Units = 12, Nanos = 340_000_000 };

    [Theory]
    [MemberData(nameof(SampleHistory.Kinds), MemberType = typeof(SampleHistory))]
    public void The_body_of_every_kind_of_event_is_as_it_was_recorded(string kind) =>
        SampleHistory.AssertRecorded("sent", kind, e => EventBody.Of(e.Recorded));

    [Fact]
    public void What_a_caller_keeps_with_a_payment_is_in_the_body_by_name()
    {
        var recorded = Sample();
        recorded.PaymentAccepted = new PaymentAccepted { Amount = Amount };
        recorded.Notes =
            new PaymentNotes { Reference = "order 7", Metadata = { ["shop"] = "Bern", ["line"] = "\"1\"" } };

        Assert.EndsWith(
            ""","notes":{"reference":"order 7","metadata":{"line":"\u00221\u0022","shop":"Bern"}}}""",
            EventBody.Of(recorded), StringComparison.Ordinal);
    }

    [Fact]
    public void A_kind_that_a_newer_version_has_published_is_not_known() => Assert.Null(EventBody.KindOf(Sample()));

    [Theory]
    [InlineData("visa/acct-42", 1_769_860_800_123_456, true)]
    [InlineData("visa/a b", 1_769_860_800_123_456, false)]
    [InlineData("visa/a\0", 1_769_860_800_123_456, false)]
    [InlineData("visa/a\r\nx: y", 1_769_860_800_123_456, false)]
    [InlineData("visa/ä", 1_769_860_800_123_456, false)]
    [InlineData("visa/acct-42", 0, false)]
    [InlineData("visa/acct-42", long.MaxValue, false)]
    public void An_event_that_could_not_be_stored_or_sent_is_of_no_account(
        string streamId, long decided, bool isOfAccount)
    {
        var recorded = Sample();
        (recorded.StreamId, recorded.DecidedUnixUs) = (streamId, decided);

        Assert.Equal(isOfAccount, EventBody.IsOfAccount(recorded));
        recorded.StreamId = streamId.PadRight(201, 'x');
        Assert.False(EventBody.IsOfAccount(recorded));
    }

    [Fact]
    public void An_event_that_was_recorded_after_a_restore_says_so()
    {
        var recorded = Sample();
        recorded.PaymentAccepted = new PaymentAccepted { Amount = Amount };
        var body = EventBody.Of(recorded);
        recorded.Incarnation = 1_790_000_000;

        Assert.Equal(
            body.ReplaceLineEndings("")
                .Replace("\"version\":7,", "\"version\":7,\"incarnation\":1790000000,", StringComparison.Ordinal),
            EventBody.Of(recorded));
    }

    [Fact]
    public void An_amount_that_JavaScript_cannot_count_is_a_text()
    {
        var recorded = Sample();
        recorded.PaymentAccepted = new PaymentAccepted { Amount = Amount };

        Assert.Contains("\"units\":\"9007199254740993\"", EventBody.Of(recorded), StringComparison.Ordinal);
    }

    private static Event Sample() => new()
    {
        StreamId = "visa/acct-42",
        Version = 7,
        TransactionId = "0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11",
        DecidedUnixUs = 1_769_860_800_123_456,
        Balance = new Money { CurrencyCode = "USD", Units = 9_007_199_254_740_993 },
    };
}
