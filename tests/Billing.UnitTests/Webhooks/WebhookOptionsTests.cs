using Billing.Webhooks;

namespace Billing.UnitTests.Webhooks;

public sealed class WebhookOptionsTests
{
    private const string Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    [Fact]
    public void Settings_that_are_complete_have_no_problem() => Assert.Empty(Valid().ValidationErrors());

    [Fact]
    public void Every_invalid_setting_is_named()
    {
        Refuses("Billing:Webhooks:ConnectionString is missing", options => options.ConnectionString = "");
        Refuses(
            "Billing:Webhooks:ConnectionString is not a connection string",
            options => options.ConnectionString = "Nothing=1");
        Refuses(
            "Billing:Webhooks:AllowedNetworks: '10.0.0.0/33' is not a network",
            options => options.AllowedNetworks = "fd00::/8, 10.0.0.0/33");
        Refuses("Billing:Webhooks:Receivers is missing", options => options.Receivers.Clear());
        Refuses(
            "Billing:Webhooks:Receivers:'Shop' must be a name",
            options => options.Receivers["Shop"] = options.Receivers["shop"]);
    }

    [Theory]
    [InlineData(
        "http://shop.example/", "Url must begin with https, unless Billing:Webhooks:Receivers:shop:AllowHttp is true")]
    [InlineData("ftp://shop.example/", "Url must be of the form https://host/path")]
    [InlineData("shop.example", "Url must be of the form https://host/path")]
    [InlineData("https://user:password@shop.example/", "Url must be of the form https://host/path, without a user")]
    public void An_address_that_is_not_safe_is_refused(string url, string problem) =>
        Refuses("Billing:Webhooks:Receivers:shop:" + problem, options => options.Receivers["shop"].Url = url);

    [Fact]
    public void A_receiver_s_secret_kinds_and_payment_types_are_checked()
    {
        Refuses(
            "Billing:Webhooks:Receivers:shop:Secret must be whsec_",
            options => options.Receivers["shop"].Secret = "hidden");
        Refuses(
            "Billing:Webhooks:Receivers:shop:Events: 'PAYMENT_LOST' is not one of PAYMENT_ACCEPTED, ",
            options => options.Receivers["shop"].Events = "PAYMENT_ACCEPTED, PAYMENT_LOST");
        Refuses(
            "Billing:Webhooks:Receivers:shop:PaymentTypes: 'visa' must be VISA, ",
            options => options.Receivers["shop"].PaymentTypes = "visa");
    }

    private static WebhookOptions Valid() => new()
    {
        ConnectionString = "Host=localhost",
        Receivers = new()
        {
            ["shop"] = new()
            {
                Url = "https://shop.example/events",
                Secret = Secret,
                Events = "PAYMENT_ACCEPTED",
                PaymentTypes = "VISA,AMEX",
            },
        },
    };

    private static void Refuses(string problem, Action<WebhookOptions> change)
    {
        var options = Valid();
        change(options);
        var error = Assert.Single(options.ValidationErrors());
        Assert.StartsWith(problem, error, StringComparison.Ordinal);
        Assert.DoesNotContain("hidden", error, StringComparison.Ordinal);
    }
}
