using System.Globalization;
using Billing.Messaging;

namespace Billing.Chaos.Faults;

/// <summary>A planned fault.</summary>
/// <param name="At">Its start, from the start of the soak.</param>
/// <param name="Target">The number of its target in the pool, from 1.</param>
/// <param name="Lasts">Its duration; for a kill, the time until the restart.</param>
public sealed record Fault(TimeSpan At, FaultKind Kind, int Target, TimeSpan Lasts)
{
    /// <summary>By how much a wrong clock is ahead; negative if it is behind.</summary>
    public TimeSpan ClockOff { get; init; }

    /// <summary>What is chosen while a disk rots follows from it.</summary>
    public int Seed { get; init; }

    /// <summary>Its end, from the start of the soak.</summary>
    public TimeSpan Until => At + Lasts;

    /// <summary>Its description, e.g. <c>kill -9 broker 2, back after 5.2 s</c>.</summary>
    public string What
    {
        get
        {
            var profile = FaultProfile.Of(Kind);
            var hasNone = profile.Pool is FaultPool.None or FaultPool.Postgres
                || Kind is FaultKind.LosePower or FaultKind.RestartAll;
            var target = hasNone ? ""
                : profile.Pool == FaultPool.Topics ? " " + Topics.AllPayments[Target - 1]
                : string.Create(CultureInfo.InvariantCulture, $" {Target}");
            var back = Lasts == TimeSpan.Zero
                ? ""
                : string.Create(CultureInfo.InvariantCulture, $", back after {Lasts.TotalSeconds:0.0} s");
            var off = ClockOff == TimeSpan.Zero ? ""
                : string.Create(CultureInfo.InvariantCulture, $", off by {ClockOff.TotalHours:+0;-0} h");
            return profile.Name + target + back + off;
        }
    }
}

/// <summary>The possible targets of faults.</summary>
/// <param name="Proxies">Number of proxies; they get no faults if there are fewer than two.</param>
/// <param name="Brokers">Number of brokers; they get no faults if there are fewer than three.</param>
/// <param name="Power">Whether the servers can lose their power.</param>
/// <param name="SlowDisk">Whether the disks of servers can be made slow.</param>
/// <param name="Network">Whether the first service of each pool can be cut off, and the servers of a
/// cluster from each other.</param>
/// <param name="Replicas">Whether there are several PostgreSQL servers.</param>
/// <param name="Clocks">Whether the clock of a service can be set wrong.</param>
/// <param name="Databases">Number of databases of the event store, each with a server of its own.</param>
public sealed record FaultTargets(
    int Proxies, int PaymentBackends, int BalanceBackends, int Brokers, bool Power = false, bool SlowDisk = false,
    bool Network = false, bool Replicas = false, bool Clocks = false, int Databases = 1)
{
    /// <summary>Whether there are targets for a kind of fault.</summary>
    public bool Allow(FaultKind kind) => In(FaultProfile.Of(kind).Pool) > 0 && kind switch
    {
        FaultKind.LosePower => Power,
        // A proxy asks only the brokers for their time.
        FaultKind.SetClockWrong => Clocks && In(FaultPool.Brokers) > 0,
        FaultKind.CrashLoop => PaymentBackends > 1,
        FaultKind.SlowPostgres or FaultKind.KillSlowPostgres => SlowDisk && !Replicas,
        FaultKind.SlowBroker => SlowDisk,
        FaultKind.CrashPostgres or FaultKind.FreezePostgres => !Replicas,
        _ when FaultProfile.IsOfReplicas(kind) && !Replicas => false,
        _ => Network || !(FaultProfile.IsOfNetwork(kind) || FaultProfile.IsBetweenServers(kind)),
    };

    /// <summary>Returns the number of possible targets in a pool.</summary>
    public int In(FaultPool pool) => pool switch
    {
        FaultPool.Proxies => Proxies < 2 ? 0 : Proxies,
        FaultPool.PaymentBackends => PaymentBackends,
        FaultPool.BalanceBackends => BalanceBackends,
        FaultPool.Brokers => Brokers < 3 ? 0 : Brokers,
        FaultPool.Postgres => Databases,
        FaultPool.Topics => Topics.AllPayments.Count,
        FaultPool.Services => Proxies < 2 ? 0 : Proxies + PaymentBackends + BalanceBackends,
        _ => 1,
    };
}

/// <summary>Computes the faults of a soak before it begins, from its seed only, so that a soak that found an error can
/// be repeated. The kinds occur in rounds, each kind once per round in random order, as often as it may occur at all.
/// Half of the faults meet another one, of another pool; all others end before the next one begins, but a killed
/// process may still be starting.</summary>
public static class FaultSchedule
{
    private static readonly TimeSpan First = TimeSpan.FromSeconds(2);

    private static readonly TimeSpan[] ClocksOff =
        [.. new[] { 1, -1, 72, -72, 8760, -8760 }.Select(hours => TimeSpan.FromHours(hours))];

    // From the end of a fault to the start of the next.
    private const int PauseMinMs = 2000;
    private const int PauseMaxMs = 5000;

    // A restarted process must start and catch up before the next fault of its pool.
    private static readonly TimeSpan BrokerRest = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan ProxyRest = TimeSpan.FromSeconds(8);

    /// <summary>Returns the faults, in order of time.</summary>
    /// <param name="seed">The seed of all random choices.</param>
    /// <param name="duration">The time within which every fault begins. Five minutes are enough for every kind.</param>
    /// <param name="targets">The possible targets.</param>
    public static IReadOnlyList<Fault> Create(int seed, TimeSpan duration, FaultTargets targets)
    {
        var random = new Random(seed);
        var kinds = Enum.GetValues<FaultKind>().Where(targets.Allow).ToArray();
        var faults = new List<Fault>();
        var round = new List<FaultKind>();
        for (var at = First; at < duration;)
        {
            var fault = Draw(round, kinds, faults, at, targets, random);
            var end = EndOf(fault);
            if (random.Next(2) == 0)
            {
                var meeting = Draw(
                    round, kinds, [.. faults, fault], at + (fault.Lasts * random.NextDouble()), targets,
                    random, FaultProfile.Of(fault.Kind).Pool);
                faults.Add(meeting);
                end = EndOf(meeting) > end ? EndOf(meeting) : end;
            }
            faults.Add(fault);
            at = end + TimeSpan.FromMilliseconds(random.Next(PauseMinMs, PauseMaxMs));
        }
        return [.. faults.Where(f => f.At < duration).OrderBy(f => f.At)];
    }

    // The next fault begins after the target time for the fail-over, so that the effects of both can be told apart.
    private static TimeSpan EndOf(Fault fault)
    {
        var failedOver = fault.At + TimeSpan.FromSeconds(FaultProfile.Of(fault.Kind).TargetSeconds ?? 0);
        return fault.Until > failedOver ? fault.Until : failedOver;
    }

    private static Fault Draw(
        List<FaultKind> round, FaultKind[] kinds, List<Fault> before, TimeSpan at,
        FaultTargets targets, Random random, FaultPool? except = null)
    {
        var kind = Draw(round, kinds, before, at, random, except);
        var profile = FaultProfile.Of(kind);
        var target = random.Next(targets.In(profile.Pool)) + 1;
        return new Fault(
            at, kind, FaultProfile.IsOfNetwork(kind) ? 1 : target,
            TimeSpan.FromMilliseconds(random.Next(profile.ShortestMs, profile.LongestMs + 1)))
        {
            ClockOff = kind == FaultKind.SetClockWrong ? ClocksOff[random.Next(ClocksOff.Length)] : TimeSpan.Zero,
            Seed = kind == FaultKind.RotBroker ? random.Next() : 0,
        };
    }

    private static FaultKind Draw(
        List<FaultKind> round, FaultKind[] kinds, List<Fault> before, TimeSpan at, Random random, FaultPool? except)
    {
        bool IsPossible(FaultKind kind) => FaultProfile.Of(kind).Pool != except && IsRested(kind, before, at)
            && before.Count(fault => fault.Kind == kind) < FaultProfile.Of(kind).TimesMax;

        var next = round.FindIndex(IsPossible);
        while (next < 0)
        {
            var more = kinds.ToArray();
            random.Shuffle(more);
            round.AddRange(more);
            next = round.FindIndex(IsPossible);
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
