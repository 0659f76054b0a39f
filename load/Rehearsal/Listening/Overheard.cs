using System.Buffers.Binary;
using System.Net;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Listening;

/// <summary>What the eavesdropper has heard.</summary>
/// <param name="links">The counts by link.</param>
/// <param name="packets">Number of packets.</param>
/// <param name="dropped">Number of packets that the kernel dropped because it was too slow.</param>
/// <param name="failure">Why it stopped listening before the end; null if it did not.</param>
internal sealed class Overheard(
    IReadOnlyDictionary<Link, Traffic> links, long packets, long dropped, string? failure)
{
    private const byte Tcp = 6;
    private const byte Udp = 17;
    private const string WithoutPort = "protocol";

    // An encrypted stream that began unseen is read again from its next record on.
    private const double NotHeardPercentMax = 1;

    /// <summary>What went from tier to tier, and what is amiss with it.</summary>
    /// <param name="topology">All machines that there were, and the connections that are allowed.</param>
    public ListeningFindings Judge(Topology topology)
    {
        var tiers = topology.Machines.ToDictionary(machine => machine.Address, machine => machine.Tier);
        var heard = links
            .GroupBy(link => (
                From: Named(link.Key.From), To: Named(link.Key.To), Port: Port(link.Key), link.Key.Protocol))
            .Select(alike => (Link: alike.Key, Sum: Sum(alike.Select(link => link.Value))))
            .Where(link => link.Sum.Bytes > 0)
            .OrderBy(link => (link.Link.To, link.Link.Port, link.Link.From))
            .ToList();
        var rows = heard.ConvertAll(link => new HeardLink(
            link.Link.From, link.Link.To, link.Link.Port, link.Sum.Bytes, Percent(link.Sum.Tls, link.Sum.Bytes),
            link.Sum.Clear, link.Sum.Unread + link.Sum.Missed, link.Sum.Found));
        var silent =
            from rule in topology.Rules
            where tiers.ContainsValue(rule.From) && tiers.ContainsValue(rule.To)
            where !rows.Exists(row => (row.From, row.To, row.Port) == (rule.From, rule.To, $"{rule.Port}"))
            select $"{rule.From} to {rule.To} at {rule.Port}";
        var all = Sum(heard.Select(link => link.Sum));
        return new ListeningFindings(
            packets, dropped, all.Bytes, Percent(all.Unread + all.Missed, all.Bytes), rows, [.. silent],
            [.. rows.SelectMany(AmissOf), .. Outdated(rows), .. AmissAtAll(all)]);

        string Named(uint address)
        {
            var text = new IPAddress(BinaryPrimitives.ReverseEndianness(address)).ToString();
            return tiers.GetValueOrDefault(text, text);
        }
    }

    private static IEnumerable<string> AmissOf(HeardLink link)
    {
        var what = $"{link.From} to {link.To} at {link.Port}";
        foreach (var (needle, count) in link.Found.OrderBy(found => found.Key, StringComparer.Ordinal))
        {
            yield return $"{what}: an eavesdropper reads {needle}, {count} times";
        }
        if (link.ClearBytes > 0 && !IsClear(link.Port))
        {
            yield return $"{what}: {link.ClearBytes} of {link.Bytes} bytes are not encrypted";
        }
    }

    // Protocols without ports are the network's own messages.
    private static bool IsClear(string port) =>
        port.StartsWith(WithoutPort, StringComparison.Ordinal)
        || (int.TryParse(port, out var number) && ClearPorts.All.ContainsKey(number));

    private static IEnumerable<string> Outdated(IReadOnlyList<HeardLink> links) =>
        from port in ClearPorts.All.Keys
        let there = links.Where(link => link.Port == $"{port}").ToList()
        where there.Count > 0 && there.TrueForAll(link => link.ClearBytes == 0)
        select $"{port} is one of {nameof(ClearPorts)}, but everything there was encrypted: remove it";

    private IEnumerable<string> AmissAtAll(Traffic all)
    {
        if (failure is not null)
        {
            yield return "the eavesdropper stopped listening: " + failure;
        }
        if (all.Bytes == 0)
        {
            yield return "the eavesdropper heard nothing";
        }
        if (Percent(all.Unread + all.Missed, all.Bytes) is > NotHeardPercentMax and var percent)
        {
            yield return $"the eavesdropper could not read {percent:0.0} % of all bytes; the kernel dropped {dropped} "
                + $"of its {packets + dropped} packets";
        }
    }

    private static string Port(Link link) => link.Protocol switch
    {
        Tcp => $"{link.Port}",
        Udp => $"udp {link.Port}",
        _ => $"{WithoutPort} {link.Protocol}",
    };

    private static double Percent(long part, long whole) => whole == 0 ? 0 : 100.0 * part / whole;

    private static Traffic Sum(IEnumerable<Traffic> parts)
    {
        var sum = new Traffic();
        foreach (var part in parts)
        {
            sum.Add(part);
        }
        return sum;
    }
}

/// <summary>What an eavesdropper on the router heard; part of the report.</summary>
/// <param name="Packets">Number of packets that it read.</param>
/// <param name="Dropped">Number of packets that the kernel dropped because it was too slow.</param>
/// <param name="Bytes">Of payload.</param>
/// <param name="UnreadPercent">Share of the bytes that were not seen, or not understood because some before them were
/// not.</param>
/// <param name="Links">What went from tier to tier.</param>
/// <param name="Silent">Allowed connections over which nothing went.</param>
/// <param name="Amiss">The findings.</param>
internal sealed record ListeningFindings(
    long Packets, long Dropped, long Bytes, double UnreadPercent, IReadOnlyList<HeardLink> Links,
    IReadOnlyList<string> Silent, IReadOnlyList<string> Amiss);

/// <summary>What went from one tier to another, and back.</summary>
/// <param name="From">The tier that asks, or an address that is no machine's.</param>
/// <param name="To">The tier that serves.</param>
/// <param name="Port">The port of TCP, or another protocol with its port.</param>
/// <param name="Bytes">Of payload.</param>
/// <param name="TlsPercent">Share of the bytes that are TLS.</param>
/// <param name="ClearBytes">Bytes that are no TLS.</param>
/// <param name="UnreadBytes">Bytes that were not seen or not understood.</param>
/// <param name="Found">How often what must not be readable was found, by what it is.</param>
internal sealed record HeardLink(
    string From, string To, string Port, long Bytes, double TlsPercent, long ClearBytes, long UnreadBytes,
    IReadOnlyDictionary<string, long> Found);
