namespace Billing.Hosting;

/// <summary>What other machines' clocks show, and the time that most clocks agree on: any one of three or more may be
/// wrong by any time. A reading is a clock's time less the time that this process has counted, so that readings of
/// different moments can be compared; it is known to lie within bounds, since a clock is read at some moment between a
/// question and its answer. Thread-safe.</summary>
public sealed class ClockVote
{
    /// <summary>By how much a clock may differ before it is called wrong. Clocks that are kept by NTP differ by
    /// milliseconds, and the time that an answer takes is allowed for. What is compared with times of other machines
    /// stands more: tokens 30 s (<c>Billing:Auth:ClockSkew</c>), signatures of webhooks minutes.</summary>
    public static readonly TimeSpan Tolerance = TimeSpan.FromSeconds(10);

    /// <summary>How often another machine is asked for its time.</summary>
    public static readonly TimeSpan AskingInterval = TimeSpan.FromSeconds(10);

    /// <summary>How long its answer is waited for.</summary>
    public static readonly TimeSpan AnswerMax = TimeSpan.FromSeconds(5);

    private static readonly long HeardMax = TimeSpan.FromHours(1).Ticks;

    /// <summary>What the times of the clocks must keep to.</summary>
    public static IReadOnlyList<Rule> Rules { get; } =
    [
        Rule.Less(
            Quantity.Of("the wait for a clock's answer", AnswerMax),
            Quantity.Of("the time between two questions to a clock", AskingInterval),
            "one question at a time"),
        Rule.Less(
            Quantity.Of("the wait for a clock's answer", AnswerMax), Quantity.Of("the tolerance of clocks", Tolerance),
            "a time is known no better than that"),
        Rule.Less(
            Quantity.Of("the tolerance of the process's own clock", ClockWatch.DifferenceMax),
            Quantity.Of("the tolerance of clocks", Tolerance),
            "a service must not go by a clock that it would call wrong in another machine"),
    ];

    private readonly Lock _gate = new();
    private volatile Reading[] _others = [];

    /// <summary>Notes what another clock shows.</summary>
    /// <param name="clock">Whose it is.</param>
    /// <param name="shown">The time that it showed.</param>
    /// <param name="precision">What it leaves out of its time.</param>
    /// <param name="asked">The time that this process had counted when it asked.</param>
    /// <param name="answered">The time that it had counted when the answer came.</param>
    public void Hear(string clock, DateTimeOffset shown, TimeSpan precision, long asked, long answered)
    {
        var reading = new Reading(clock, shown.UtcTicks - answered, shown.UtcTicks + precision.Ticks - asked, answered);
        lock (_gate)
        {
            // A machine that has not answered for long is no witness any more: the clocks have drifted since.
            _others =
            [
                .. _others.Where(o => o.Clock != clock && answered - o.Heard <= HeardMax).Append(reading)
                    .OrderBy(o => o.Clock, StringComparer.Ordinal),
            ];
        }
    }

    /// <summary>Whether enough clocks are known to outvote a wrong one.</summary>
    public bool IsDecided => _others.Length > 1;

    /// <summary>The reading that most clocks agree on: the median, where another clock counts as close to this
    /// machine's as its bounds allow. Of an even number it is what is nearest to the process's clock, which has been
    /// right if this machine's was set since.</summary>
    /// <param name="own">The reading of this machine's clock.</param>
    /// <param name="process">The reading of the process's clock.</param>
    public long Agreed(long own, long process)
    {
        var others = _others;
        Span<long> readings = stackalloc long[others.Length + 1];
        readings[^1] = own;
        for (var i = 0; i < others.Length; i++)
        {
            readings[i] = others[i].NearestTo(own);
        }
        readings.Sort();
        return Math.Clamp(process, readings[others.Length / 2], readings[readings.Length / 2]);
    }

    /// <summary>Whether more than half of the clocks are within the tolerance of what is agreed on;
    /// or half, if the process's clock is with the others against this machine's.</summary>
    /// <param name="own">The reading of this machine's clock.</param>
    /// <param name="process">The reading of the process's clock.</param>
    public bool MostAgree(long own, long process)
    {
        var (others, agreed) = (_others, Agreed(own, process));
        var near = others.Count(o => IsNear(o.NearestTo(own)));
        return IsNear(own) ? (near + 1) * 2 > others.Length + 1 : near * 2 >= others.Length + 1;

        bool IsNear(long reading) => Math.Abs(reading - agreed) <= Tolerance.Ticks;
    }

    /// <summary>The other clocks that were heard of in the last hour, and by how much each is ahead of a
    /// reading, at least.</summary>
    public IEnumerable<(string Clock, TimeSpan Ahead)> AheadOf(long reading) =>
        _others.Select(o => (o.Clock, new TimeSpan(o.NearestTo(reading) - reading)));

    private readonly record struct Reading(string Clock, long AtLeast, long AtMost, long Heard)
    {
        public long NearestTo(long own) => Math.Clamp(own, AtLeast, AtMost);
    }
}
