using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Billing.Rehearsal.Machines;
using Billing.Rehearsal.Network;

namespace Billing.DeploymentTests.Rehearsal;

/// <summary>The network of the rehearsal, with three real network namespaces that only have listeners.</summary>
[Collection(nameof(MachineNetwork))]
public sealed class MachineNetworkTests : IAsyncLifetime
{
    private static readonly string Tag = Environment.ProcessId.ToString(CultureInfo.InvariantCulture);
    private static readonly Machine Client = New("client", "a", "10.99.0.61");
    private static readonly Machine Proxy = New("proxy", "b", "10.99.1.31");
    private static readonly Machine Other = New("other", "a", "10.99.0.91");
    private static readonly AccessRule[] Rules = [new("client", "proxy", 5000), new("callers", "load-balancer", 5000)];

    private readonly List<Socket> _listeners = [];
    private MachineNetwork? _network;

    public ValueTask InitializeAsync()
    {
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "network namespaces need root");
        ExternalTool.Need("ip");
        ExternalTool.Need("nft");
        ExternalTool.Need("sysctl");
        return ValueTask.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        _listeners.ForEach(listener => listener.Dispose());
        _network?.Dispose();
        if (Environment.IsPrivilegedProcess && ExternalTool.Find("ip") is { } ip)
        {
            foreach (var name in (string[])["router", Client.Name, Proxy.Name, Other.Name])
            {
                await ExternalTool.RunAsync(ip, ["netns", "delete", name]);
            }
        }
    }

    [Fact]
    public async Task Exactly_the_allowed_connections_are_answered()
    {
        await BuildAsync(Rules);

        var found = await TryAsync(Rules);

        Assert.Empty(found.Amiss);
        Assert.Equal(1, found.Allowed);
    }

    [Fact]
    public async Task A_port_that_is_open_by_mistake_is_found()
    {
        await BuildAsync([.. Rules, new("other", "proxy", 22)]);

        Assert.Equal([$"{Other.Name} to {Proxy.Name} at 22: answered, but not allowed"], (await TryAsync(Rules)).Amiss);
    }

    [Fact]
    public async Task A_missing_rule_is_found()
    {
        await BuildAsync([.. Rules.Skip(1), new("client", "proxy", 5001)]);

        Assert.Equal(
            [$"{Client.Name} to {Proxy.Name} at 5000: allowed, but not answered"],
            (await TryAsync(Rules)).Amiss.Where(line => line.Contains("5000", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task A_machine_that_is_cut_off_is_unreachable_until_it_is_reconnected()
    {
        await BuildAsync(Rules);

        await _network!.CutOffAsync([Proxy], TestContext.Current.CancellationToken);
        var cutOff = await TryAsync(Rules);
        await _network.ReconnectAsync([Proxy], TestContext.Current.CancellationToken);

        Assert.Equal([$"{Client.Name} to {Proxy.Name} at 5000: allowed, but not answered"], cutOff.Amiss);
        Assert.Empty((await TryAsync(Rules)).Amiss);
    }

    /// <summary>A lower bound only: a busy machine cannot make the delay shorter.</summary>
    [Fact]
    public async Task Packets_between_zones_are_delayed_in_both_directions()
    {
        var delay = TimeSpan.FromMilliseconds(50);
        await BuildAsync(Rules, delay);
        using var socket = NetworkNamespace.Run(
            MachineNetwork.NamespacePath(Client.Name),
            () => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp));

        var start = Stopwatch.GetTimestamp();
        await socket.ConnectAsync(
            new IPEndPoint(IPAddress.Parse(Proxy.Address), 5000), TestContext.Current.CancellationToken);

        Assert.True(Stopwatch.GetElapsedTime(start) >= 2 * delay);
    }

    [Fact]
    public void The_firewall_drops_packets_that_no_rule_accepts()
    {
        var text = MachineNetwork.Firewall(
            new Topology([Client, Proxy, Other], Rules, new Dictionary<string, string>()));

        Assert.Contains("type filter hook forward priority filter; policy drop;", text, StringComparison.Ordinal);
        Assert.Equal(1 + Rules.Length, text.Split('\n').Count(line => line.EndsWith(" accept", StringComparison.Ordinal)
            && line.Contains("    ", StringComparison.Ordinal) && !line.Contains("iifname", StringComparison.Ordinal)));
    }

    private async Task BuildAsync(IReadOnlyList<AccessRule> rules, TimeSpan delay = default)
    {
        _network = await MachineNetwork.BuildAsync(
            new Topology([Client, Proxy, Other], rules, new Dictionary<string, string>()),
            delay, TestContext.Current.CancellationToken);
        foreach (var port in (int[])[22, 5000])
        {
            _listeners.Add(NetworkNamespace.Run(MachineNetwork.NamespacePath(Proxy.Name), () =>
            {
                var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                listener.Bind(new IPEndPoint(IPAddress.Any, port));
                listener.Listen();
                return listener;
            }));
        }
    }

    private static Task<AccessFindings> TryAsync(IReadOnlyList<AccessRule> rules) => AccessProbe.RunAsync(
        new Topology([Client, Proxy, Other], rules, new Dictionary<string, string>()),
        [("proxy", 5000)], TestContext.Current.CancellationToken);

    private static Machine New(string tier, string zone, string address) =>
        new($"{tier}-{Tag}", tier, zone, address, new Dictionary<string, string>());
}
