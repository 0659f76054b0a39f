using System.Globalization;

namespace Billing.Chaos;

/// <summary>One fault.</summary>
/// <param name="At">When, from the start of the soak.</param>
/// <param name="Kind">What.</param>
/// <param name="Target">Which one of its pool, from 1.</param>
/// <param name="Lasts">How long; for what is killed, until it is started again.</param>
public sealed record Fault(TimeSpan At, FaultKind Kind, int Target, TimeSpan Lasts)
{
    /// <summary>When it is mended.</summary>
    public TimeSpan Until => At + Lasts;

    /// <summary>What happens to whom, e.g. <c>kill -9 broker 2, back after 5.2 s</c>.</summary>
    public string What
    {
        get
        {
            var profile = FaultProfile.Of(Kind);
            var target = profile.Pool is FaultPool.None or FaultPool.Postgres ? "" : string.Create(CultureInfo.InvariantCulture, $" {Target}");
            var back = Lasts == TimeSpan.Zero ? "" : string.Create(CultureInfo.InvariantCulture, $", back after {Lasts.TotalSeconds:0.0} s");
            return profile.Name + target + back;
        }
    }
}

/// <summary>What there is to strike.</summary>
/// <param name="Proxies">Proxies; with fewer than two, none is struck.</param>
/// <param name="PaymentBackends">Payment backends.</param>
/// <param name="BalanceBackends">Balance backends.</param>
/// <param name="Brokers">Brokers; with fewer than three, none is struck.</param>
public sealed record FaultTargets(int Proxies, int PaymentBackends, int BalanceBackends, int Brokers)
{
    /// <summary>How many members a pool has that may be struck.</summary>
    public int In(FaultPool pool) => pool switch
    {
        FaultPool.Proxies => Proxies < 2 ? 0 : Proxies,
        FaultPool.PaymentBackends => PaymentBackends,
        FaultPool.BalanceBackends => BalanceBackends,
        FaultPool.Brokers => Brokers < 3 ? 0 : Brokers,
        _ => 1,
    };
}

/// <summary>Computes the faults of a soak before it begins, from its seed alone, so that a soak that found something can be
/// had again. The kinds come in rounds, each kind once a round in random order, and each fault is mended before the next
/// one strikes, though what was killed may still be starting.</summary>
public static class FaultSchedule
{
    private static readonly TimeSpan First = TimeSpan.FromSeconds(2);

    // From the end of a fault to the start of the next.
    private const int PauseMinMs = 2000;
    private const int PauseMaxMs = 5000;

    // What was away has to start and catch up before another of its pool may go.
    private static readonly TimeSpan BrokerRest = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan ProxyRest = TimeSpan.FromSeconds(8);

    /// <summary>The faults, in order of time.</summary>
    /// <param name="seed">Decides everything.</param>
    /// <param name="duration">Every fault begins before it. Three minutes are enough for every kind.</param>
    /// <param name="targets">What there is to strike.</param>
    public static IReadOnlyList<Fault> Create(int seed, TimeSpan duration, FaultTargets targets)
    {
        var random = new Random(seed);
        var kinds = Enum.GetValues<FaultKind>().Where(k => targets.In(FaultProfile.Of(k).Pool) > 0).ToArray();
        var faults = new List<Fault>();
        var round = new List<FaultKind>();
        for (var at = First; at < duration;)
        {
            var kind = Draw(round, kinds, faults, at, random);
            var profile = FaultProfile.Of(kind);
            var fault = new Fault(
                at, kind, random.Next(targets.In(profile.Pool)) + 1,
                TimeSpan.FromMilliseconds(random.Next(profile.ShortestMs, profile.LongestMs + 1)));
            faults.Add(fault);
            // What a fault costs must not be taken for what the next one does: others have until its target to take over.
            var takenOver = fault.At + TimeSpan.FromSeconds(profile.TargetSeconds ?? 0);
            at = (fault.Until > takenOver ? fault.Until : takenOver)
                + TimeSpan.FromMilliseconds(random.Next(PauseMinMs, PauseMaxMs));
        }
        return faults;
    }

    private static FaultKind Draw(
        List<FaultKind> round, FaultKind[] kinds, List<Fault> before, TimeSpan at, Random random)
    {
        var next = round.FindIndex(kind => IsRested(kind, before, at));
        while (next < 0)
        {
            var more = kinds.ToArray();
            random.Shuffle(more);
            round.AddRange(more);
            next = round.FindIndex(kind => IsRested(kind, before, at));
        }
        var drawn = round[next];
        round.RemoveAt(next);
        return drawn;
    }

    private static bool IsRested(FaultKind kind, List<Fault> before, TimeSpan at)
    {
        var pool = FaultProfile.Of(kind).Pool;
        var rest = pool switch
        {
            FaultPool.Brokers => BrokerRest,
            FaultPool.Proxies => ProxyRest,
            _ => TimeSpan.Zero,
        };
        return before.TrueForAll(f => FaultProfile.Of(f.Kind).Pool != pool || f.Until + rest <= at);
    }
}
