using System.Net;
using Billing.Hosting;
using Billing.Proxy;
using Billing.Proxy.Limits;
using Billing.Proxy.Memory;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy;

/// <summary>Which connections come from one address.</summary>
public sealed class ConnectionLimitsTests
{
    [Theory]
    [InlineData("2001:db8:1:2::1", "2001:db8:1:2:3:4:5:6", false)]
    [InlineData("2001:db8:1:2::1", "2001:db8:1:3::1", true)]
    [InlineData("::ffff:192.0.2.1", "192.0.2.1", false)]
    [InlineData("192.0.2.1", "192.0.2.2", true)]
    [InlineData("::ffff:192.0.2.1", "::ffff:192.0.2.2", true)]
    public async Task Connections_of_one_IPv6_network_of_64_bits_come_from_one_address(
        string first, string second, bool areTwo)
    {
        var memory = new ProxyMemory(
            new MemoryBudget(16 << 20), Options.Create(new ProxyOptions { ConnectionsMax = 3 }));
        using var limits = new ConnectionLimits(memory, TimeProvider.System);
        var end = new TaskCompletionSource();
        var callers = new List<string>();
        Task Serve(ConnectionContext connection)
        {
            callers.Add(connection.Features.Get<Caller>()!.Id);
            return end.Task;
        }

        var served = limits.ServeAsync(From(first), Serve);
        var next = limits.ServeAsync(From(second), Serve);

        Assert.Equal(areTwo, !next.IsCompleted);
        Assert.Equal(areTwo ? 2 : 1, callers.Distinct().Count());
        end.SetResult();
        await Task.WhenAll(served, next);
        // Both have left.
        await limits.ServeAsync(From(second), Serve);
        Assert.Equal(areTwo ? 3 : 2, callers.Count);
    }

    private static DefaultConnectionContext From(string address) =>
        new() { RemoteEndPoint = new IPEndPoint(IPAddress.Parse(address), 1) };
}
