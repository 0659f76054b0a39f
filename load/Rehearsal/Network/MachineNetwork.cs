using System.Text;
using Billing.LocalStack.Processes;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Network;

/// <summary>The network of the machines, like that of a cloud: each machine has one link to a router, which only
/// forwards packets that the security groups allow, also within a zone. Packets between zones are delayed. All of it is
/// in network namespaces of this mount namespace, and ends with it.</summary>
internal sealed class MachineNetwork : IDisposable
{
    /// <summary>The router's name; it has a network namespace like a machine's.</summary>
    public const string Router = "router";

    // Any address, as it only exists in the router's namespace. Each machine reaches all others through it,
    // as in a VPC.
    private const string Gateway = "169.254.1.1";

    // Machines on EC2 have jumbo frames within a VPC.
    private const int FrameBytes = 9001;

    private readonly Tool _ip = new("ip");
    private readonly Tool _nft = new("ip", "netns", "exec", Router, "nft", "-f", "-");
    private DelayLine? _zones;

    /// <summary>Builds the network.</summary>
    /// <param name="zoneDelay">Latency of a packet from one zone to another; zero for no delay.</param>
    public static async Task<MachineNetwork> BuildAsync(
        Topology topology, TimeSpan zoneDelay, CancellationToken cancellationToken)
    {
        var network = new MachineNetwork();
        try
        {
            await network._ip.RunAsync(["netns", "add", Router], cancellationToken);
            await new Tool("ip", "netns", "exec", Router).RunAsync(
                [
                    "sysctl", "-qw", "net.ipv4.ip_forward=1",
                    "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0",
                ],
                cancellationToken);
            await InRouterAsync(cancellationToken, "link set lo up");
            if (zoneDelay > TimeSpan.Zero)
            {
                network._zones = DelayLine.Open(NamespacePath(Router), zoneDelay);
                await InRouterAsync(
                    cancellationToken, $"link set {DelayLine.Interface} up mtu {FrameBytes} txqueuelen 10000",
                    $"route add default dev {DelayLine.Interface} table 100", "rule add fwmark 1 lookup 100");
            }
            await network._nft.RunAsync([], cancellationToken, Firewall(topology));
            foreach (var machine in topology.Machines)
            {
                await network.ConnectAsync(machine, cancellationToken);
            }
            return network;
        }
        catch
        {
            network.Dispose();
            throw;
        }
    }

    /// <summary>Returns the file of a machine's network namespace.</summary>
    public static string NamespacePath(string machine) => "/run/netns/" + machine;

    /// <summary>Connects a machine that is added later.</summary>
    public async Task AddAsync(Machine machine, CancellationToken cancellationToken)
    {
        await _nft.RunAsync([], cancellationToken, Membership(machine));
        await ConnectAsync(machine, cancellationToken);
    }

    /// <summary>Cuts machines off from all others: packets from and to them are dropped.</summary>
    public Task CutOffAsync(IEnumerable<Machine> machines, CancellationToken cancellationToken) =>
        _nft.RunAsync([], cancellationToken, Elements("add", machines));

    public Task ReconnectAsync(IEnumerable<Machine> machines, CancellationToken cancellationToken) =>
        _nft.RunAsync([], cancellationToken, Elements("delete", machines));

    public void Dispose() => _zones?.Dispose();

    /// <summary>Creates the router's nftables rules, which correspond to the security groups.</summary>
    internal static string Firewall(Topology topology)
    {
        var text = new StringBuilder("table ip billing {\n  set cut { type ipv4_addr; }\n");
        foreach (var tier in topology.Rules.SelectMany(rule => (string[])[rule.From, rule.To])
            .Concat(topology.Machines.Select(m => m.Tier)).Distinct())
        {
            text.Append($"  set {Set(tier)} {{ type ipv4_addr; }}\n");
        }
        // Packets between zones are routed to the delay line, and come back from it without the mark.
        text.Append($$"""
              chain zones {
                type filter hook prerouting priority mangle; policy accept;
                iifname "{{DelayLine.Interface}}" accept
                jump between
              }
              chain between { }
              chain forward {
                type filter hook forward priority filter; policy drop;
                ip saddr @cut drop
                ip daddr @cut drop
                ct state established,related accept

            """);
        foreach (var rule in topology.Rules)
        {
            text.Append($"    ip saddr @{Set(rule.From)} ip daddr @{Set(rule.To)} tcp dport {rule.Port} accept\n");
        }
        text.Append("  }\n}\n");
        foreach (var zone in topology.Machines.GroupBy(machine => machine.Zone))
        {
            text.Append($"add set ip billing zone_{zone.Key} {{ type ipv4_addr; }}\n");
            text.Append(
                $"add rule ip billing between ip saddr @zone_{zone.Key} ip daddr != @zone_{zone.Key} "
                + "meta mark set 1\n");
        }
        foreach (var machine in topology.Machines)
        {
            text.Append(Membership(machine));
        }
        return text.ToString();
    }

    private static string Membership(Machine machine) =>
        $"add element ip billing {Set(machine.Tier)} {{ {machine.Address} }}\nadd element ip billing "
        + $"zone_{machine.Zone} {{ {machine.Address} }}\n";

    private static string Elements(string what, IEnumerable<Machine> machines) =>
        $"{what} element ip billing cut {{ {string.Join(", ", machines.Select(machine => machine.Address))} }}\n";

    private static string Set(string tier) => "tier_" + tier.Replace('-', '_');

    private async Task ConnectAsync(Machine machine, CancellationToken cancellationToken)
    {
        // An interface's name has at most 15 characters.
        var link = "m" + machine.Address.Replace('.', '_');
        await _ip.RunAsync(["netns", "add", machine.Name], cancellationToken);
        await InRouterAsync(
            cancellationToken, $"link add {link} mtu {FrameBytes} type veth peer name eth0 netns {machine.Name}",
            $"addr add {Gateway}/32 dev {link}", $"link set {link} up", $"route add {machine.Address}/32 dev {link}");
        await new Tool("ip", "-n", machine.Name, "-batch", "-").RunAsync([], cancellationToken, string.Join('\n',
            $"link set eth0 mtu {FrameBytes}", $"addr add {machine.Address}/32 dev eth0", "link set lo up",
            "link set eth0 up", $"route add {Gateway}/32 dev eth0", $"route add default via {Gateway} dev eth0", ""));
    }

    private static Task<string> InRouterAsync(CancellationToken cancellationToken, params string[] commands) =>
        new Tool("ip", "-n", Router, "-batch", "-").RunAsync([], cancellationToken, string.Join('\n', commands) + "\n");
}
