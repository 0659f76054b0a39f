namespace Billing.Rehearsal.Listening;

/// <summary>What is read out of packets: of each connection what goes each way, of each link the counts.</summary>
internal sealed class Conversations(Needles needles)
{
    // Of connections that have ended, packets may come once more.
    private const int EndedMax = 4096;

    private readonly Dictionary<Ends, OneWay> _ways = [];
    private readonly Queue<(Ends Ends, OneWay Way)> _ended = new();
    private readonly Dictionary<Link, Traffic> _links = [];

    /// <summary>What is searched for, from the next packet on.</summary>
    public Needles Needles { get; set; } = needles;

    /// <summary>The counts by link.</summary>
    public IReadOnlyDictionary<Link, Traffic> Links => _links;

    /// <summary>Takes a packet.</summary>
    public void Take(scoped in Packet packet)
    {
        if (!packet.IsTcp)
        {
            TakeAlone(packet);
            return;
        }
        var ends = new Ends(packet.Source, packet.SourcePort, packet.Target, packet.TargetPort);
        var first = packet.Opens ? packet.Sequence + 1 : packet.Sequence;
        if (!_ways.TryGetValue(ends, out var way) || (packet.Opens && !way.IsNewAt(first)))
        {
            way?.End(Needles);
            if (!packet.Opens && packet.Payload.IsEmpty)
            {
                return;
            }
            way = _ways[ends] = new OneWay(first, packet.Opens, Of(Link.Of(packet)));
        }
        if (!packet.Payload.IsEmpty)
        {
            way.Take(first, packet.Payload, Needles);
        }
        if (packet.Ends)
        {
            Forget(ends, way);
        }
    }

    /// <summary>No more packets follow.</summary>
    public void End()
    {
        foreach (var way in _ways.Values)
        {
            way.End(Needles);
        }
        _ways.Clear();
    }

    // Nothing else than TCP is encrypted here.
    private void TakeAlone(scoped in Packet packet)
    {
        var traffic = Of(Link.Of(packet));
        traffic.Clear += packet.Payload.Length;
        OneWay.Search([], packet.Payload, Needles, traffic.Found);
    }

    private Traffic Of(Link link)
    {
        if (!_links.TryGetValue(link, out var traffic))
        {
            _links[link] = traffic = new Traffic();
        }
        return traffic;
    }

    private void Forget(Ends ends, OneWay ended)
    {
        _ended.Enqueue((ends, ended));
        if (_ended.Count <= EndedMax)
        {
            return;
        }
        (ends, ended) = _ended.Dequeue();
        // Its ports may be another connection's by now.
        if (_ways.TryGetValue(ends, out var present) && present == ended)
        {
            ended.End(Needles);
            _ways.Remove(ends);
        }
    }

    private readonly record struct Ends(uint Source, int SourcePort, uint Target, int TargetPort);
}

/// <summary>From who asks to who serves, by address; both directions count as one link.</summary>
/// <param name="Protocol">Of IP: 6 is TCP, 17 UDP.</param>
/// <param name="Port">The served port; 0 where there is none.</param>
internal readonly record struct Link(uint From, uint To, byte Protocol, int Port)
{
    /// <summary>The link of a packet: servers have the lower port, as those of clients begin at 32768.</summary>
    public static Link Of(scoped in Packet packet) => packet.SourcePort < packet.TargetPort
        ? new Link(packet.Target, packet.Source, packet.Protocol, packet.SourcePort)
        : new Link(packet.Source, packet.Target, packet.Protocol, packet.TargetPort);
}
