using Billing.V1;
using Billing.Webhooks;
using Billing.Wire.V1;

namespace Billing.UnitTests.Webhooks;

/// <summary>What receivers get. It may gain fields; none may change or go.</summary>
public sealed class EventBodyTests
{
    private const string PaymentId = "1b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11";

    private static readonly Money Amount = new() { CurrencyCode = "USD", Units = 12, Nanos = 340_000_000 };

    private static readonly Dictionary<Event.FactOneofCase, (Action<Event> Add, string Body)> Recorded = new()
    {
        [Event.FactOneofCase.PaymentAccepted] = (
            recorded => recorded.PaymentAccepted = new PaymentAccepted { Amount = Amount },
            """
            {"type":"PAYMENT_ACCEPTED","account_id":"acct-42","payment_type":"VISA","version":7,
            "transaction_id":"0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11","decide_time":"2026-01-31T12:00:00.123456Z",
            "amount":{"currency_code":"USD","units":"12","nanos":340000000},
            "balance":{"currency_code":"USD","units":"9007199254740993","nanos":0}}
            """),
        [Event.FactOneofCase.PaymentDeclined] = (
            recorded => recorded.PaymentDeclined = new PaymentDeclined { Amount = Amount, Reason = DeclineReason.CreditLimitExceeded },
            """
            {"type":"PAYMENT_DECLINED","account_id":"acct-42","payment_type":"VISA","version":7,
            "transaction_id":"0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11","decide_time":"2026-01-31T12:00:00.123456Z",
            "amount":{"currency_code":"USD","units":"12","nanos":340000000},"reason":"CREDIT_LIMIT_EXCEEDED",
            "balance":{"currency_code":"USD","units":"9007199254740993","nanos":0}}
            """),
        [Event.FactOneofCase.CreditLimitChanged] = (
            recorded => recorded.CreditLimitChanged = new CreditLimitChanged { Limit = Amount },
            """
            {"type":"CREDIT_LIMIT_CHANGED","account_id":"acct-42","payment_type":"VISA","version":7,
            "transaction_id":"0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11","decide_time":"2026-01-31T12:00:00.123456Z",
            "limit":{"currency_code":"USD","units":"12","nanos":340000000},
            "balance":{"currency_code":"USD","units":"9007199254740993","nanos":0}}
            """),
        [Event.FactOneofCase.PaymentRefunded] = (
            recorded => recorded.PaymentRefunded = new PaymentRefunded { PaymentId = PaymentId, Amount = Amount, Charged = Amount, Refunded = Amount },
            """
            {"type":"PAYMENT_REFUNDED","account_id":"acct-42","payment_type":"VISA","version":7,
            "transaction_id":"0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11","decide_time":"2026-01-31T12:00:00.123456Z",
            "payment_id":"1b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11",
            "amount":{"currency_code":"USD","units":"12","nanos":340000000},
            "charged":{"currency_code":"USD","units":"12","nanos":340000000},
            "refunded":{"currency_code":"USD","units":"12","nanos":340000000},
            "balance":{"currency_code":"USD","units":"9007199254740993","nanos":0}}
            """),
        [Event.FactOneofCase.PaymentAuthorised] = (
            recorded => (recorded.PaymentAuthorised, recorded.OnHold) = (new PaymentAuthorised { Amount = Amount, ExpireUnixUs = 1_770_465_600_000_000 }, Amount),
            """
            {"type":"PAYMENT_AUTHORISED","account_id":"acct-42","payment_type":"VISA","version":7,
            "transaction_id":"0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11","decide_time":"2026-01-31T12:00:00.123456Z",
            "amount":{"currency_code":"USD","units":"12","nanos":340000000},
            "expire_time":"2026-02-07T12:00:00Z",
            "balance":{"currency_code":"USD","units":"9007199254740993","nanos":0},
            "on_hold":{"currency_code":"USD","units":"12","nanos":340000000}}
            """),
        [Event.FactOneofCase.AuthorisationDeclined] = (
            recorded => recorded.AuthorisationDeclined = new AuthorisationDeclined { Amount = Amount, Reason = DeclineReason.CurrencyMismatch },
            """
            {"type":"AUTHORISATION_DECLINED","account_id":"acct-42","payment_type":"VISA","version":7,
            "transaction_id":"0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11","decide_time":"2026-01-31T12:00:00.123456Z",
            "amount":{"currency_code":"USD","units":"12","nanos":340000000},"reason":"CURRENCY_MISMATCH",
            "balance":{"currency_code":"USD","units":"9007199254740993","nanos":0}}
            """),
        [Event.FactOneofCase.PaymentCaptured] = (
            recorded => recorded.PaymentCaptured = new PaymentCaptured { PaymentId = PaymentId, Amount = Amount, Released = Amount, Charged = Amount, Refunded = Amount, Held = Amount },
            """
            {"type":"PAYMENT_CAPTURED","account_id":"acct-42","payment_type":"VISA","version":7,
            "transaction_id":"0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11","decide_time":"2026-01-31T12:00:00.123456Z",
            "payment_id":"1b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11",
            "amount":{"currency_code":"USD","units":"12","nanos":340000000},
            "released":{"currency_code":"USD","units":"12","nanos":340000000},
            "charged":{"currency_code":"USD","units":"12","nanos":340000000},
            "refunded":{"currency_code":"USD","units":"12","nanos":340000000},
            "held":{"currency_code":"USD","units":"12","nanos":340000000},
            "balance":{"currency_code":"USD","units":"9007199254740993","nanos":0}}
            """),
        [Event.FactOneofCase.AuthorisationVoided] = (
            recorded => recorded.AuthorisationVoided = new HoldReleased { PaymentId = PaymentId, Released = Amount, Charged = Amount, Refunded = Amount },
            """
            {"type":"AUTHORISATION_VOIDED","account_id":"acct-42","payment_type":"VISA","version":7,
            "transaction_id":"0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11","decide_time":"2026-01-31T12:00:00.123456Z",
            "payment_id":"1b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11",
            "released":{"currency_code":"USD","units":"12","nanos":340000000},
            "charged":{"currency_code":"USD","units":"12","nanos":340000000},
            "refunded":{"currency_code":"USD","units":"12","nanos":340000000},
            "balance":{"currency_code":"USD","units":"9007199254740993","nanos":0}}
            """),
        [Event.FactOneofCase.AuthorisationExpired] = (
            recorded => recorded.AuthorisationExpired = new HoldReleased { PaymentId = PaymentId, Released = Amount },
            """
            {"type":"AUTHORISATION_EXPIRED","account_id":"acct-42","payment_type":"VISA","version":7,
            "transaction_id":"0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11","decide_time":"2026-01-31T12:00:00.123456Z",
            "payment_id":"1b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11",
            "released":{"currency_code":"USD","units":"12","nanos":340000000},
            "balance":{"currency_code":"USD","units":"9007199254740993","nanos":0}}
            """),
        [Event.FactOneofCase.AccountStatusChanged] = (
            recorded => (recorded.AccountStatusChanged, recorded.AccountStatus) = (new AccountStatusChanged { Status = AccountStatus.Frozen }, AccountStatus.Frozen),
            """
            {"type":"ACCOUNT_STATUS_CHANGED","account_id":"acct-42","payment_type":"VISA","version":7,
            "transaction_id":"0b0f2a52-5b5c-4b7e-9d3c-6f8f3f0f5a11","decide_time":"2026-01-31T12:00:00.123456Z",
            "status":"FROZEN","balance":{"currency_code":"USD","units":"9007199254740993","nanos":0},
            "account_status":"FROZEN"}
            """),
    };

    public static TheoryData<Event.FactOneofCase> Kinds => [.. Enum.GetValues<Event.FactOneofCase>().Where(kind => kind != Event.FactOneofCase.None)];

    [Theory]
    [MemberData(nameof(Kinds))]
    public void The_body_of_every_kind_of_event_is_as_it_was_recorded(Event.FactOneofCase kind)
    {
        var (add, body) = Recorded[kind];
        var recorded = Sample();
        add(recorded);

        Assert.Equal(body.ReplaceLineEndings(""), EventBody.Of(recorded));
    }

    [Fact]
    public void What_a_caller_keeps_with_a_payment_is_in_the_body_by_name()
    {
        var recorded = Sample();
        recorded.PaymentAccepted = new PaymentAccepted { Amount = Amount };
        recorded.Notes = new PaymentNotes { Reference = "order 7", Metadata = { ["shop"] = "Bern", ["line"] = "\"1\"" } };

        Assert.EndsWith(""","notes":{"reference":"order 7","metadata":{"line":"\u00221\u0022","shop":"Bern"}}}""", EventBody.Of(recorded), StringComparison.Ordinal);
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
    public void An_event_that_could_not_be_stored_or_sent_is_of_no_account(string streamId, long decided, bool isOfAccount)
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
        var (add, body) = Recorded[Event.FactOneofCase.PaymentAccepted];
        var recorded = Sample();
        recorded.Incarnation = 1_790_000_000;
        add(recorded);

        Assert.Equal(
            body.ReplaceLineEndings("")
                .Replace("\"version\":7,", "\"version\":7,\"incarnation\":1790000000,", StringComparison.Ordinal),
            EventBody.Of(recorded));
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
