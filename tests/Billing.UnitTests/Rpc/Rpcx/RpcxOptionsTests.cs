using Billing.Rpc.Rpcx;
using Billing.Rpc.Rpcx.Calling;
using Billing.Rpc.Rpcx.Serving;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Rpc.Rpcx;

public sealed class RpcxOptionsTests
{
    [Fact]
    public void The_defaults_have_no_problem()
    {
        Assert.Empty(new RpcxServerOptions().ValidationErrors());
        Assert.Empty(new RpcxClientOptions { Address = "backend-1:7070" }.ValidationErrors());
    }

    [Theory]
    [InlineData("127.0.0.1:7070")]
    [InlineData("[::1]:7070")]
    [InlineData("*:0")]
    [InlineData("localhost:7070")]
    public void A_valid_listen_address_is_accepted(string listen) =>
        Assert.Empty(new RpcxServerOptions { Listen = listen }.ValidationErrors());

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("127.0.0.1:")]
    [InlineData("127.0.0.1:70000")]
    [InlineData("127.0.0.1:-1")]
    [InlineData(":7070")]
    [InlineData("backend:7070")]
    public void An_invalid_listen_address_is_reported(string listen) => Assert.Equal(
        $"Billing:Rpcx:Listen: '{listen}' is not of the form IP:port.",
        Assert.Single(new RpcxServerOptions { Listen = listen }.ValidationErrors()));

    [Fact]
    public void A_first_backoff_above_the_maximum_is_reported() => Assert.StartsWith(
        "Billing:Rpcx:BackoffFirst (00:00:03)",
        Assert.Single(new RpcxClientOptions { Address = "a:1", BackoffFirst = TimeSpan.FromSeconds(3) }.ValidationErrors()),
        StringComparison.Ordinal);

    [Fact]
    public void A_client_rejects_invalid_settings_and_reports_all_of_them()
    {
        var options = new RpcxClientOptions { Connections = 0, TimeoutDefault = TimeSpan.Zero };
        var e = Assert.Throws<ArgumentException>(
            () => new RpcxClient(options, new ManualTime(), NullLogger<RpcxClient>.Instance));
        Assert.Contains("Billing:Rpcx:Address is missing", e.Message, StringComparison.Ordinal);
        Assert.Contains("Billing:Rpcx:Connections must be", e.Message, StringComparison.Ordinal);
        Assert.Contains("Billing:Rpcx:TimeoutDefault (00:00:00)", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_server_rejects_invalid_settings() => Assert.StartsWith(
        "Billing:Rpcx:InFlightMax must be between 1 and 1000000; it is 0.",
        Assert.Throws<ArgumentException>(() => new RpcxServer(
            new RpcxServerOptions { InFlightMax = 0 }, new ManualTime(), NullLogger<RpcxServer>.Instance)).Message,
        StringComparison.Ordinal);
}
