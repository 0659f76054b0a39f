using Billing.Chaos.Faults;

namespace Billing.UnitTests.Chaos;

public sealed class FaultScheduleTests
{
    private static readonly FaultTargets Targets =
        new(3, 3, 3, 3, Power: true, SlowDisk: true, Network: true, Clocks: true);

    private static readonly TimeSpan FiveMinutes = TimeSpan.FromMinutes(5);

    private static readonly IEnumerable<int> Seeds = Enumerable.Range(0, 200);

    [Fact]
    public void The_same_seed_makes_the_same_schedule() => Assert.All(Seeds, seed => Assert.Equal(
        FaultSchedule.Create(seed, FiveMinutes, Targets), FaultSchedule.Create(seed, FiveMinutes, Targets)));

    [Fact]
    public void The_schedule_of_a_seed_does_not_change() => Assert.Equal(
        ["crash PostgreSQL, back after 0.7 s", "freeze proxy 1, back after 3.0 s", "loss of power, back after 1.5 s"],
        FaultSchedule.Create(1, FiveMinutes, Targets).Take(3).Select(f => f.What));

    [Fact]
    public void Another_seed_makes_another_schedule() => Assert.Equal(
        200,
        Seeds.Select(seed => string.Join('\n', FaultSchedule.Create(seed, FiveMinutes, Targets))).Distinct().Count());

    [Fact]
    public void Five_minutes_contain_every_kind() => Assert.All(Seeds, seed => Assert.Equal(
        Enum.GetValues<FaultKind>().Where(Targets.Allow),
        FaultSchedule.Create(seed, FiveMinutes, Targets).Select(f => f.Kind).Distinct().Order()));

    [Fact]
    public void Several_PostgreSQL_servers_get_faults_of_their_own()
    {
        var kinds = FaultSchedule.Create(1, TimeSpan.FromMinutes(20), new FaultTargets(
            3, 3, 3, 1, Network: true, Replicas: true)).Select(f => f.Kind).ToHashSet();

        Assert.Superset(Enum.GetValues<FaultKind>().Where(FaultProfile.IsOfReplicas).ToHashSet(), kinds);
        Assert.DoesNotContain(FaultKind.CrashPostgres, kinds);
        Assert.DoesNotContain(FaultKind.FreezePostgres, kinds);
    }

    [Fact]
    public void A_longer_soak_begins_like_a_shorter_one() => Assert.All(Seeds, seed =>
    {
        var shorter = FaultSchedule.Create(seed, TimeSpan.FromMinutes(1), Targets);

        Assert.Equal(shorter, FaultSchedule.Create(seed, FiveMinutes, Targets).Take(shorter.Count));
        Assert.All(shorter, fault => Assert.True(fault.At < TimeSpan.FromMinutes(1)));
    });

    [Fact]
    public void Two_brokers_or_two_proxies_are_never_down_at_the_same_time() => Assert.All(Seeds, seed =>
    {
        foreach (var pool in new[] { FaultPool.Brokers, FaultPool.Proxies })
        {
            var faults = FaultSchedule.Create(seed, TimeSpan.FromMinutes(20), Targets)
                .Where(f => FaultProfile.Of(f.Kind).Pool == pool).ToList();

            Assert.All(
                faults.Zip(faults.Skip(1)),
                pair => Assert.True(pair.First.Until + TimeSpan.FromSeconds(8) <= pair.Second.At));
        }
    });

    [Fact]
    public void A_kind_occurs_as_often_as_it_may() => Assert.All(
        Seeds.Take(10).SelectMany(seed =>
            FaultSchedule.Create(seed, TimeSpan.FromMinutes(60), Targets).CountBy(f => f.Kind)),
        kind => Assert.InRange(kind.Value, 1, FaultProfile.Of(kind.Key).TimesMax));

    [Fact]
    public void A_fault_of_a_topic_names_it() => Assert.Equal(
        "delete and create topic billing.payments.mastercard",
        new Fault(TimeSpan.Zero, FaultKind.MakeTopicAgain, 2, TimeSpan.Zero).What);

    [Fact]
    public void A_backend_is_frozen_for_longer_than_its_session_timeout() => Assert.All(
        Seeds.SelectMany(seed => FaultSchedule.Create(seed, FiveMinutes, Targets))
            .Where(f => f.Kind == FaultKind.FreezePaymentBackend),
        fault => Assert.True(fault.Lasts >= TimeSpan.FromSeconds(5)));

    [Fact]
    public void Targets_are_within_their_pools_and_all_of_them_get_faults()
    {
        var faults = FaultSchedule.Create(1, TimeSpan.FromHours(1), new FaultTargets(2, 4, 3, 3));

        Assert.Equal([1, 2], Struck(FaultPool.Proxies));
        Assert.Equal([1, 2, 3, 4], Struck(FaultPool.PaymentBackends));
        Assert.Equal([1, 2, 3], Struck(FaultPool.Brokers));

        IEnumerable<int> Struck(FaultPool pool) =>
            faults.Where(f => FaultProfile.Of(f.Kind).Pool == pool).Select(f => f.Target).Distinct().Order();
    }

    [Fact]
    public void A_single_proxy_and_a_single_broker_get_no_faults() => Assert.DoesNotContain(
        FaultSchedule.Create(1, TimeSpan.FromHours(1), new FaultTargets(1, 1, 1, 1)),
        fault => FaultProfile.Of(fault.Kind).Pool is FaultPool.Proxies or FaultPool.Brokers or FaultPool.Services
            || fault.Kind == FaultKind.CrashLoop);

    [Fact]
    public void Clocks_are_off_in_both_directions_by_an_hour_and_more_and_only_those()
    {
        var faults = Seeds.SelectMany(seed => FaultSchedule.Create(seed, FiveMinutes, Targets))
            .ToLookup(fault => fault.Kind == FaultKind.SetClockWrong);

        Assert.All(faults[false], fault => Assert.Equal(TimeSpan.Zero, fault.ClockOff));
        Assert.All(faults[true], fault => Assert.True(fault.ClockOff.Duration() >= TimeSpan.FromHours(1)));
        Assert.Contains(faults[true], fault => fault.ClockOff > TimeSpan.FromDays(300));
        Assert.Contains(faults[true], fault => fault.ClockOff < TimeSpan.FromDays(-300));
    }

    [Fact]
    public void Disks_rot_each_in_another_way() => Assert.All(Seeds, seed =>
    {
        var seeds = FaultSchedule.Create(seed, TimeSpan.FromMinutes(20), Targets)
            .Where(fault => fault.Kind == FaultKind.RotBroker).Select(fault => fault.Seed).ToList();

        Assert.True(seeds.Count > 1);
        Assert.Distinct(seeds);
    });

    [Fact]
    public void Only_the_first_service_of_a_pool_is_cut_off() => Assert.All(
        FaultSchedule.Create(1, TimeSpan.FromHours(1), Targets).Where(f => FaultProfile.IsOfNetwork(f.Kind)),
        fault => Assert.Equal(1, fault.Target));
}
