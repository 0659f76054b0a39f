using Billing.Proxy.Rest;

namespace Billing.UnitTests.Proxy.Rest;

public sealed class RestOptionsTests
{
    [Theory]
    [InlineData("", "http://localhost:5000")]
    [InlineData("http://localhost:5080", null)]
    [InlineData("https://localhost:5080", null)]
    [InlineData("http://*:5080", "http://*:5000")]
    [InlineData("http://0.0.0.0:5080", "http://localhost:5000;http://localhost:5001")]
    public void A_valid_address_has_no_problem(string url, string? urls) =>
        Assert.Empty(new RestOptions { Url = url }.ValidationErrors(urls));

    [Theory]
    [InlineData("5080", null)]
    [InlineData("localhost:5080", null)]
    [InlineData("http://localhost:5080/api", null)]
    [InlineData("http://localhost:5000", null)]
    [InlineData("http://localhost:5001", "http://localhost:5000;http://127.0.0.1:5001")]
    public void Any_other_address_is_reported(string url, string? urls) => Assert.StartsWith(
        $"Billing:Rest:Url: '{url}' ",
        Assert.Single(new RestOptions { Url = url }.ValidationErrors(urls)), StringComparison.Ordinal);
}
