namespace Billing.Rehearsal.Listening;

/// <summary>What went over a link: the counts of payload bytes by what they were, and what was found in them.</summary>
internal sealed class Traffic
{
    /// <summary>Records of TLS, with PostgreSQL's request for it.</summary>
    public long Tls { get; set; }

    /// <summary>Everything that is no TLS.</summary>
    public long Clear { get; set; }

    /// <summary>Bytes of which it is not known what they were, because some before them were missed.</summary>
    public long Unread { get; set; }

    /// <summary>Bytes that were not seen.</summary>
    public long Missed { get; set; }

    public long Bytes => Tls + Clear + Unread + Missed;

    /// <summary>How often each needle was found, by its name.</summary>
    public Dictionary<string, long> Found { get; } = new(StringComparer.Ordinal);

    public void Add(Traffic other)
    {
        Tls += other.Tls;
        Clear += other.Clear;
        Unread += other.Unread;
        Missed += other.Missed;
        foreach (var (name, count) in other.Found)
        {
            Found[name] = Found.GetValueOrDefault(name) + count;
        }
    }
}
