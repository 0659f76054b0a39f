using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Network;

/// <summary>Tries from each machine to reach each other one at each port that anything listens at, and a few that nothing should:
/// what the rules allow must be answered, and nothing else may be, not even by a refusal.</summary>
internal static class AccessProbe
{
    // Well above the way there and back, even on a machine that is busy.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    // Nothing listens there, or nobody else should reach it: ssh, the web, ports beside ours, Prometheus.
    private static readonly int[] NobodysPorts = [22, 80, 111, 443, 5432, 5433, 9090, 9999];

    /// <summary>Tries all.</summary>
    /// <returns>How many ways were tried, how many of them the rules allow, and what was found amiss.</returns>
    public static async Task<AccessFindings> RunAsync(
        Topology topology, IReadOnlyList<(string Tier, int Port)> listening, CancellationToken cancellationToken)
    {
        var ports = topology.Rules.Select(rule => rule.Port).Concat(NobodysPorts).Distinct().Order().ToList();
        var ways = (
            from machine in topology.Machines
            from other in topology.Machines
            where other != machine
            from port in ports
            select new Way(machine, other, port)).ToList();
        var amiss = new ConcurrentBag<string>();
        await Parallel.ForEachAsync(
            ways.GroupBy(way => way.From), new ParallelOptions { MaxDegreeOfParallelism = 4, CancellationToken = cancellationToken },
            async (own, token) =>
            {
                var answers = await Task.WhenAll(own.Select(way => IsAnsweredAsync(MachineNetwork.NamespacePath(own.Key.Name), way, token)));
                foreach (var (way, isAnswered) in own.Zip(answers))
                {
                    Judge(way, isAnswered, IsAllowed(topology, way), listening, amiss);
                }
            });
        return new AccessFindings(ways.Count, ways.Count(way => IsAllowed(topology, way)), [.. amiss.Order(StringComparer.Ordinal)]);
    }

    private static void Judge(
        Way way, bool isAnswered, bool isAllowed, IReadOnlyList<(string Tier, int Port)> listening, ConcurrentBag<string> amiss)
    {
        var what = string.Create(CultureInfo.InvariantCulture, $"{way.From.Name} to {way.To.Name} at {way.Port}");
        if (isAnswered && !isAllowed)
        {
            amiss.Add(what + ": answered, and not allowed");
        }
        if (!isAnswered && isAllowed && listening.Contains((way.To.Tier, way.Port)))
        {
            amiss.Add(what + ": allowed, and not answered");
        }
    }

    private static bool IsAllowed(Topology topology, Way way) =>
        topology.Rules.Any(rule => rule.From == way.From.Tier && rule.To == way.To.Tier && rule.Port == way.Port);

    // A refusal is an answer too: what a firewall drops gets none.
    private static async Task<bool> IsAnsweredAsync(string namespacePath, Way way, CancellationToken cancellationToken)
    {
        using var socket = NetworkNamespace.Run(
            namespacePath, () => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp));
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        bound.CancelAfter(Patience);
        try
        {
            await socket.ConnectAsync(new IPEndPoint(IPAddress.Parse(way.To.Address), way.Port), bound.Token);
            return true;
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode == SocketError.ConnectionRefused;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return false;
        }
    }

    private sealed record Way(Machine From, Machine To, int Port);
}

/// <summary>What was tried between machines.</summary>
/// <param name="Tried">From a machine to a port of another.</param>
/// <param name="Allowed">How many of those the rules allow.</param>
/// <param name="Amiss">What was answered and not allowed, or allowed, listened at and not answered.</param>
internal sealed record AccessFindings(int Tried, int Allowed, IReadOnlyList<string> Amiss);
