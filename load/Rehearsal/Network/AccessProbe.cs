using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Network;

/// <summary>Tries connections from each machine to each other one, at every port in use and at some ports
/// that must be closed. Allowed connections must succeed; all others must time out: even a refused connection
/// would be a finding.</summary>
internal static class AccessProbe
{
    // Far above the round-trip time, even on a busy machine.
    private static readonly TimeSpan ConnectTimeout = TimeSpan.FromSeconds(3);

    // Unused ports, or ports that only local programs use: ssh, the web, neighbours of ours, Prometheus.
    private static readonly int[] ClosedPorts = [22, 80, 111, 443, 5432, 5433, 9090, 9999];

    public static async Task<AccessFindings> RunAsync(
        Topology topology, IReadOnlyList<(string Tier, int Port)> listening, CancellationToken cancellationToken)
    {
        var ports = topology.Rules.Select(rule => rule.Port).Concat(ClosedPorts).Distinct().Order().ToList();
        var ways = (
            from machine in topology.Machines
            from other in topology.Machines
            where other != machine
            from port in ports
            select new Way(machine, other, port)).ToList();
        var amiss = new ConcurrentBag<string>();
        await Parallel.ForEachAsync(
            ways.GroupBy(way => way.From),
            new ParallelOptions { MaxDegreeOfParallelism = 4, CancellationToken = cancellationToken },
            async (own, token) =>
            {
                var answers = await Task.WhenAll(
                    own.Select(way => IsAnsweredAsync(MachineNetwork.NamespacePath(own.Key.Name), way, token)));
                foreach (var (way, isAnswered) in own.Zip(answers))
                {
                    Judge(way, isAnswered, IsAllowed(topology, way), listening, amiss);
                }
            });
        return new AccessFindings(
            ways.Count, ways.Count(way => IsAllowed(topology, way)), [.. amiss.Order(StringComparer.Ordinal)]);
    }

    private static void Judge(
        Way way, bool isAnswered, bool isAllowed,
        IReadOnlyList<(string Tier, int Port)> listening, ConcurrentBag<string> amiss)
    {
        var what = $"{way.From.Name} to {way.To.Name} at {way.Port}";
        if (isAnswered && !isAllowed)
        {
            amiss.Add(what + ": answered, but not allowed");
        }
        if (!isAnswered && isAllowed && listening.Contains((way.To.Tier, way.Port)))
        {
            amiss.Add(what + ": allowed, but not answered");
        }
    }

    private static bool IsAllowed(Topology topology, Way way) =>
        topology.Rules.Any(rule => rule.From == way.From.Tier && rule.To == way.To.Tier && rule.Port == way.Port);

    // A refused connection is an answer too: packets that the firewall drops get none.
    private static async Task<bool> IsAnsweredAsync(string namespacePath, Way way, CancellationToken cancellationToken)
    {
        using var socket = NetworkNamespace.Run(
            namespacePath, () => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp));
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        bound.CancelAfter(ConnectTimeout);
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

/// <summary>The result of the connection attempts between machines.</summary>
/// <param name="Tried">Number of attempts from a machine to a port of another.</param>
/// <param name="Allowed">Number of these that the rules allow.</param>
/// <param name="Amiss">The findings: connections that were answered but not allowed, or allowed and in use but not
/// answered.</param>
internal sealed record AccessFindings(int Tried, int Allowed, IReadOnlyList<string> Amiss);
