using System.Globalization;
using Billing.Auditing;
using Billing.LocalStack;

namespace Billing.Chaos;

/// <summary>What a soak found.</summary>
/// <param name="Faults">What was done, in order of time.</param>
/// <param name="LongestCalls">For each fault, the longest time that a caller waited for an answer.</param>
/// <param name="Slowest">The slowest calls of all: when each began, how long it took, what it asked.</param>
/// <param name="Offsets">When each fault struck, from the start.</param>
/// <param name="Traffic">What the callers saw.</param>
/// <param name="EndedThemselves">Services that ended without having been told to.</param>
/// <param name="BadRecords">Records sent that belong in the dead letters.</param>
/// <param name="PutAside">Records that are there since.</param>
/// <param name="Direct">Commands that nobody asked for again.</param>
/// <param name="Forgotten">Of these, the ones that the brokers have and the books do not.</param>
/// <param name="Unpublished">Events that the books hold and the topic of events does not.</param>
/// <param name="Audit">What the books say.</param>
public sealed record SoakResult(
    IReadOnlyList<InjectedFault> Faults, IReadOnlyList<TimeSpan> LongestCalls, IReadOnlyList<TimeSpan> Offsets,
    IReadOnlyList<(TimeSpan Began, TimeSpan Took, string What)> Slowest, TrafficResult Traffic, int EndedThemselves,
    int BadRecords, int PutAside, int Direct, IReadOnlyList<string> Forgotten, IReadOnlyList<string> Unpublished, AuditResult Audit)
{
    /// <summary>What is wrong beside what the audit found, for a person: a payment without an answer, an answer that
    /// contradicts another or that the journal lacks, no payment declined or accepted at all, a command that the brokers
    /// acknowledged and the backends forgot, an event that is not published, a bad record that is not a dead letter, a service
    /// that ended by itself.</summary>
    public IReadOnlyList<string> Wrong { get; } =
    [
        .. Traffic.Violations.Select(violation => "violation: " + violation),
        .. AnswerCount.Differences(Audit, Traffic.Payments, Traffic.Balances),
        .. Forgotten.Select(command => "forgotten: " + command),
        .. Unpublished.Select(fact => "not published: " + fact),
        .. Counted(Traffic.Unanswered, "payments have no answer"),
        .. Counted(EndedThemselves, "services ended by themselves and were started again"),
        .. Counted(BadRecords - PutAside, "bad records are not in the dead letters"),
        .. Traffic.Declined > 0 && Traffic.Declined < Traffic.Payments
            ? Array.Empty<string>()
            : [string.Create(CultureInfo.InvariantCulture, $"of {Traffic.Payments} payments {Traffic.Declined} were declined: one of both was not tried")],
    ];

    /// <summary>Whether the audit is clean and nothing else is wrong.</summary>
    public bool IsClean => Audit.IsClean && Wrong.Count == 0;

    private static IEnumerable<string> Counted(int count, string what) =>
        count > 0 ? [string.Create(CultureInfo.InvariantCulture, $"{count} {what}")] : [];
}

/// <summary>Pays without pause while the faults of a schedule strike, makes the stack whole again, and audits.</summary>
public sealed class Soak(BillingStack stack, ChaosOptions options, TimeProvider time, Action<string> say)
{
    private static readonly TimeSpan FinishBound = TimeSpan.FromMinutes(2);

    // For this long after everything is as before, a slow call is still the fault's.
    private static readonly TimeSpan Aftermath = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan PublishBound = TimeSpan.FromSeconds(30);

    private const int SlowestNamed = 20;

    // Payments of each worker before the first fault: partitions that were just made take seconds to find their replicas.
    private const int WarmUpRounds = 8;

    // One payment in so many goes past the proxies.
    private const int DirectPart = 10;

    private const int OtherCurrencyPercent = 1;

    private long _start;

    /// <summary>Runs the soak.</summary>
    /// <param name="schedule">The faults, in order of time.</param>
    /// <param name="journal">Where to note what was answered.</param>
    /// <param name="cancellationToken">Gives up, leaving the stack as it is then.</param>
    public async Task<SoakResult> RunAsync(
        IReadOnlyList<Fault> schedule, string journal, CancellationToken cancellationToken)
    {
        await using var traffic = new Traffic(
            new TrafficOptions
            {
                Proxies = stack.ProxyAddresses,
                Journal = journal,
                Workers = options.Workers,
                Rate = options.Rate,
                Seed = options.Seed,
                OtherCurrencyPercent = OtherCurrencyPercent,
            },
            time);
        using var injector = new FaultInjector(stack, time, line => Say(line));
        var putAside = await PutAside.FromNowOnAsync(stack.BootstrapServers!);
        await traffic.SetLowLimitsAsync(cancellationToken);
        traffic.Start();
        await traffic.WaitForMoreAsync(options.Workers * WarmUpRounds, FinishBound, cancellationToken);
        using var direct = new DirectCommands(
            stack.BootstrapServers!, Math.Max(1, options.Rate / DirectPart), options.Seed, time);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var sending = direct.RunAsync(enough.Token);
        _start = time.GetTimestamp();
        IReadOnlyList<InjectedFault> faults;
        try
        {
            faults = await StrikeAsync(schedule, injector, cancellationToken);
        }
        finally
        {
            await enough.CancelAsync();
            await sending;
        }
        Say("the stack is whole; the workers finish");
        var seen = await traffic.StopAsync(FinishBound);
        var forgotten = await direct.MissingAsync(stack.ConnectionString, PublishBound, cancellationToken);
        var unpublished = await EventFeed.MissingAsync(
            stack.BootstrapServers!, stack.ConnectionString, PublishBound, time, cancellationToken);
        var letters = await putAside.CountAsync(injector.BadRecordsSent, PublishBound, time, cancellationToken);
        // With the proxies: what the replicas hold in memory must be what the events sum up to, after all they went through.
        var audit = await new Auditor(stack.ConnectionString) { Proxies = stack.ProxyAddresses }
            .RunAsync([journal], cancellationToken);
        return new SoakResult(
            faults, [.. traffic.Calls.LongestOf(Windows(faults)).Select(ticks => time.GetElapsedTime(0, ticks))],
            [.. faults.Select(f => time.GetElapsedTime(_start, f.Injected))], Slowest(traffic.Calls), seen,
            injector.EndedThemselves, injector.BadRecordsSent, letters, direct.Acknowledged, forgotten, unpublished, audit);
    }

    private List<(TimeSpan Began, TimeSpan Took, string What)> Slowest(CallTimes calls) =>
    [
        .. calls.Slowest(SlowestNamed)
            .Select(c => (time.GetElapsedTime(_start, c.Start), time.GetElapsedTime(c.Start, c.End), c.What)),
    ];

    private async Task<IReadOnlyList<InjectedFault>> StrikeAsync(
        IReadOnlyList<Fault> schedule, FaultInjector injector, CancellationToken cancellationToken)
    {
        using var whole = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var watching = injector.WatchAsync(whole.Token);
        var striking = new List<Task<InjectedFault>>();
        try
        {
            foreach (var fault in schedule)
            {
                await Task.Delay(Later(fault.At), time, cancellationToken);
                striking.Add(injector.RunAsync(fault, () => Say(fault.What), cancellationToken));
            }
            var faults = await Task.WhenAll(striking);
            await Task.Delay(Later(options.Duration), time, cancellationToken);
            return [.. faults.OrderBy(f => f.Injected)];
        }
        finally
        {
            await whole.CancelAsync();
            await Task.WhenAll([watching, .. striking]).ContinueWith(static _ => { }, TaskScheduler.Default);
        }
    }

    private TimeSpan Later(TimeSpan at)
    {
        var wait = at - time.GetElapsedTime(_start);
        return wait > TimeSpan.Zero ? wait : TimeSpan.Zero;
    }

    private List<(long Start, long End)> Windows(IReadOnlyList<InjectedFault> faults)
    {
        var aftermath = (long)(Aftermath.TotalSeconds * time.TimestampFrequency);
        return [.. faults.Select((fault, i) => (
            fault.Injected,
            Math.Min(fault.Recovered + aftermath, i + 1 < faults.Count ? faults[i + 1].Injected : long.MaxValue)))];
    }

    private void Say(string line) => say(string.Create(
        CultureInfo.InvariantCulture, $"{time.GetElapsedTime(_start).TotalSeconds,7:0.0} s  {line}"));
}
