using Billing.Client;

namespace Billing.UnitTests.Client;

/// <summary>The validated values that callers create: amounts, accounts, payments, holds and limits.</summary>
public sealed class ValuesTests
{
    private static readonly CardAccount Account = new(CardNetwork.Visa, "acct-42");

    [Theory]
    [InlineData("usd")]
    [InlineData("US")]
    [InlineData("")]
    [InlineData("U$D")]
    [InlineData("USE")]
    [InlineData("XAU")]
    public void A_currency_is_one_of_ISO_4217(string currency) =>
        Assert.Equal("currency", Assert.Throws<ArgumentException>(() => new Amount(1, currency)).ParamName);

    [Fact]
    public void An_amount_has_at_most_the_decimal_places_of_its_currency_and_sixteen_digits_before_them()
    {
        Assert.Equal(0.01m, new Amount(0.01m, "USD").Value);
        Assert.Equal(0.001m, new Amount(0.001m, "KWD").Value);
        Assert.Equal(5, new Amount(5.00m, "JPY").Value);
        var refused = Assert.Throws<ArgumentOutOfRangeException>(() => new Amount(0.001m, "USD"));
        Assert.Contains("USD has at most 2 decimal places", refused.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentOutOfRangeException>(() => new Amount(0.5m, "JPY"));
        Assert.Equal(-1e15m, new Amount(-1e15m, "USD").Value);
        Assert.Throws<ArgumentOutOfRangeException>(() => new Amount(1e15m + 1, "USD"));
    }

    [Fact]
    public void Amounts_are_equal_by_value_and_have_a_text_form()
    {
        Assert.Equal(new Amount(1.5m, "USD"), new Amount(1.50m, "USD"));
        Assert.NotEqual(new Amount(1.5m, "USD"), new Amount(1.5m, "EUR"));
        Assert.Equal("12.34 USD", new Amount(12.34m, "USD").ToString());
    }

    [Theory]
    [InlineData(CardNetwork.Visa, "with space", "id")]
    [InlineData(CardNetwork.Visa, "", "id")]
    [InlineData(CardNetwork.None, "acct-42", "network")]
    [InlineData((CardNetwork)99, "acct-42", "network")]
    public void An_invalid_account_is_rejected_by_the_constructor(CardNetwork network, string id, string parameter) =>
        Assert.Equal(parameter, Assert.Throws<ArgumentException>(() => new CardAccount(network, id)).ParamName);

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(1_000_000_001)]
    public void A_payment_is_above_zero_and_at_most_a_billion(long value) =>
        Assert.Equal(
            "amount", Assert.Throws<ArgumentException>(() => new Payment(Account, new Amount(value, "USD"))).ParamName);

    [Fact]
    public void An_empty_id_is_rejected_and_a_limit_may_be_zero_but_not_negative()
    {
        Assert.Equal(
            "id",
            Assert.Throws<ArgumentException>(() => new Payment(Guid.Empty, Account, new Amount(1, "USD"))).ParamName);
        Assert.Equal(0, new CreditLimitChange(Account, new Amount(0, "USD")).Limit.Value);
        Assert.Equal(
            "limit",
            Assert.Throws<ArgumentException>(() => new CreditLimitChange(Account, new Amount(-1, "USD"))).ParamName);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(0.5)]
    [InlineData(1.5)]
    [InlineData(31 * 86_400 + 1)]
    public void A_hold_stands_for_whole_seconds_up_to_31_days(double seconds)
    {
        Assert.Equal("standsFor", Assert.Throws<ArgumentOutOfRangeException>(
            () => new Hold(Account, new Amount(1, "USD"), TimeSpan.FromSeconds(seconds))).ParamName);
        Assert.Equal(1, new Hold(Account, new Amount(1, "USD"), TimeSpan.FromSeconds(1)).Message.HoldDuration.Seconds);
        Assert.Equal(
            31 * 86_400, new Hold(Account, new Amount(1, "USD"), TimeSpan.FromDays(31)).Message.HoldDuration.Seconds);
        Assert.Null(new Hold(Account, new Amount(1, "USD")).Message.HoldDuration);
    }

    [Fact]
    public void What_is_invalid_of_a_hold_of_its_capture_and_of_its_voiding_is_named()
    {
        var (some, dollar, nothing) = (Guid.NewGuid(), new Amount(1, "USD"), new Amount(0, "USD"));

        Assert.Equal("id", Assert.Throws<ArgumentException>(() => new Hold(Guid.Empty, Account, dollar)).ParamName);
        Assert.Equal("amount", Assert.Throws<ArgumentException>(() => new Hold(Account, nothing)).ParamName);
        Assert.Equal(
            "id", Assert.Throws<ArgumentException>(() => new Capture(Guid.Empty, Account, some, dollar)).ParamName);
        Assert.Equal(
            "paymentId", Assert.Throws<ArgumentException>(() => new Capture(Account, Guid.Empty, dollar)).ParamName);
        Assert.Equal("amount", Assert.Throws<ArgumentException>(() => new Capture(Account, some, nothing)).ParamName);
        Assert.Equal("id", Assert.Throws<ArgumentException>(() => new HoldVoid(Guid.Empty, Account, some)).ParamName);
        Assert.Equal("paymentId", Assert.Throws<ArgumentException>(() => new HoldVoid(Account, Guid.Empty)).ParamName);
    }

    [Fact]
    public void Each_new_payment_has_its_own_id() =>
        Assert.NotEqual(new Payment(Account, new Amount(1, "USD")).Id, new Payment(Account, new Amount(1, "USD")).Id);
}
