using System.Net;
using System.Net.Sockets;
using Billing.Cli.Stack;

namespace Billing.IntegrationTests.StackTests;

[AnyPackages("ports")]
[Collection(OneStackAtATime.Name)]
public sealed class FreePortsTests
{
    [Fact]
    public void No_port_is_given_twice()
    {
        using var one = new FreePorts();
        using var other = new FreePorts();
        int[] taken = [.. Enumerable.Range(0, 100).SelectMany(_ => new[] { one.Take(), other.Take() })];
        Assert.Equal(taken.Length, taken.Distinct().Count());
    }

    [Fact]
    public void A_server_can_listen_on_a_port_that_is_still_reserved()
    {
        using var ports = new FreePorts();
        var port = ports.Take();
        for (var start = 0; start < 2; start++)
        {
            using var server = new TcpListener(IPAddress.Loopback, port);
            server.Start();
            using var client = new TcpClient();
            client.Connect(IPAddress.Loopback, port);
            Assert.True(client.Connected);
        }
    }
}
