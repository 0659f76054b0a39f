using System.Net;
using System.Net.Sockets;
using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.StackTests;

[Collection(SequentialStackTests.Name)]
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
    public void A_requested_port_is_available_after_its_server_stopped_and_rejected_while_another_one_listens()
    {
        using var first = new FreePorts();
        var port = first.Take();
        using (var server = new TcpListener(IPAddress.Loopback, port))
        {
            server.Start();
            // The server closes the connection first, so that its side stays in TIME_WAIT.
            using var client = new TcpClient();
            client.Connect(IPAddress.Loopback, port);
            server.AcceptSocket().Dispose();
            using var ports = new FreePorts();
            var taken = Assert.Throws<StackException>(() => ports.Take(port));
            Assert.Equal($"Port {port} on 127.0.0.1 is in use: another program listens on it.", taken.Message);
            Assert.Equal(0, client.GetStream().Read(new byte[1]));
        }

        using var again = new FreePorts();
        again.Take(port);
        var twice = Assert.Throws<StackException>(() => again.Take(port));
        Assert.Equal($"Port {port} is requested twice.", twice.Message);
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
