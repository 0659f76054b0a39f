using Billing.Driver;

namespace Billing.UnitTests.Driver;

public sealed class ClientCommandTests
{
    [Theory]
    [InlineData("0")]
    [InlineData("4")]
    [InlineData("1000")]
    public void A_number_of_streams_within_bounds_is_accepted(string streams) => Assert.Empty(Errors(streams));

    [Theory]
    [InlineData("-1", "--streams must be at least 0.")]
    [InlineData("1001", "--streams must be at most 1000.")]
    public void A_number_of_streams_out_of_bounds_is_rejected(string streams, string error) =>
        Assert.Equal(error, Assert.Single(Errors(streams)));

    private static IEnumerable<string> Errors(string streams) =>
        ClientCommand.Create().Parse(["--proxies", "http://localhost:5000", "--streams", streams]).Errors
            .Select(e => e.Message);
}
