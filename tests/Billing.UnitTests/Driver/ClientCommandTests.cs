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

    [Theory]
    [InlineData("--ca")]
    [InlineData("--token-file")]
    public void A_file_that_is_missing_is_named(string option) => Assert.Equal(
        $"{option}: there is no file '/nowhere/of.it'.",
        Assert.Single(ClientCommand.Create().Parse(["--proxies", "http://localhost:5000", option, "/nowhere/of.it"])
            .Errors).Message);

    [Theory]
    [InlineData(LoadProtocol.Unary)]
    [InlineData(LoadProtocol.Rest)]
    public void A_load_without_the_SDK_does_not_leave_out_a_token_in_silence(LoadProtocol protocol)
    {
        var refused = Assert.Throws<NotSupportedException>(() => new LoadDriver(
            new LoadSpec
            {
                Addresses = ["https://localhost:5000"],
                Shape = new LoadShape.Burst(1),
                Protocol = protocol,
                TokenFile = "token",
            },
            TimeProvider.System));

        Assert.Equal($"CaFile and TokenFile: the protocol {protocol} has neither.", refused.Message);
    }

    private static IEnumerable<string> Errors(string streams) =>
        ClientCommand.Create().Parse(["--proxies", "http://localhost:5000", "--streams", streams]).Errors
            .Select(e => e.Message);
}
