using System.Globalization;
using Billing.Auditing;
using Billing.Auditing.Chains;
using Billing.Chaos.Faults;
using Billing.LocalStack;
using Billing.Messaging.Requests;

namespace Billing.Chaos;

/// <summary>The result of a soak.</summary>
/// <param name="Faults">The injected faults, in order of time.</param>
/// <param name="LongestCalls">For each fault, the longest time that a caller waited for an answer.</param>
/// <param name="Slowest">The slowest calls of all: start, duration and description of each.</param>
/// <param name="Offsets">For each fault, the time of its injection, from the start.</param>
/// <param name="Traffic">The results of the callers.</param>
/// <param name="EndedThemselves">Number of services that ended by themselves.</param>
/// <param name="BadRecords">Number of sent records that must be in the dead letters.</param>
/// <param name="DeadLetters">Number of those that are there.</param>
/// <param name="Direct">Number of acknowledged commands without a caller that retries.</param>
/// <param name="Forgotten">Those of them that are not in the event store.</param>
/// <param name="Unpublished">Events that are in the event store but not in the event topic.</param>
/// <param name="Unchained">Accounts whose events are not chained as they should be, each with the
/// first that is not.</param>
public sealed record SoakResult(
    IReadOnlyList<InjectedFault> Faults, IReadOnlyList<TimeSpan> LongestCalls, IReadOnlyList<TimeSpan> Offsets,
    IReadOnlyList<(TimeSpan Began, TimeSpan Took, string What)> Slowest, TrafficResult Traffic, int EndedThemselves,
    int BadRecords, int DeadLetters, int Direct, IReadOnlyList<string> Forgotten, IReadOnlyList<string> Unpublished,
    IReadOnlyList<string> Unchained, AuditResult Audit)
{
    /// <summary>The faults in addition to those of the audit, as text for the console: a payment without an answer, an
    /// answer that contradicts another or is missing in the journal, no payment declined or none accepted, an
    /// acknowledged command that the backends lost, an event that is not published or not chained, a bad record that is
    /// not in the dead letters, a service that ended by itself.</summary>
    public IReadOnlyList<string> Wrong { get; } =
    [
        .. Traffic.Violations.Select(violation => "violation: " + violation),
        .. AnswerCount.Differences(Audit, Traffic.Payments, Traffic.Balances),
        .. Forgotten.Select(command => "command not recorded: " + command),
        .. Unpublished.Select(fact => "event not published: " + fact),
        .. Unchained.Select(account => "event not chained: " + account),
        .. Counted(Traffic.Unanswered, "payments have no answer"),
        // Brokers that have lost requests for balances with their power end the producers of those requests.
        .. Faults.Any(fault => fault.Fault.Kind == FaultKind.LosePower)
            ? []
            : Counted(EndedThemselves, "services ended by themselves and were restarted"),
        .. Counted(BadRecords - DeadLetters, "bad records are not in the dead letters"),
        .. Traffic.Declined > 0 && Traffic.Declined < Traffic.Payments
            ? Array.Empty<string>()
            : [string.Create(
                CultureInfo.InvariantCulture,
                $"of {Traffic.Payments} payments {Traffic.Declined} were declined: "
                    + $"the soak needs both accepted and declined payments")],
    ];

    /// <summary>Whether the audit is clean and there are no other faults.</summary>
    public bool IsClean => Audit.IsClean && Wrong.Count == 0;

    private static IEnumerable<string> Counted(int count, string what) =>
        count > 0 ? [string.Create(CultureInfo.InvariantCulture, $"{count} {what}")] : [];
}

/// <summary>Makes payments continuously while the faults of a schedule are injected, repairs all
/// faults, and audits.</summary>
public sealed class Soak(BillingStack stack, ChaosOptions options, TimeProvider time, Action<string> say)
{
    private static readonly TimeSpan FinishBound = TimeSpan.FromMinutes(5);

    // For this long after a fault is repaired, slow calls are still attributed to it.
    private static readonly TimeSpan Aftermath = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan PublishBound = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan InFlightBound = TimeSpan.FromMinutes(1);

    private const int SlowestNamed = 20;

    // Payments of each worker before the first fault: new partitions take seconds until their replicas are in sync.
    private const int WarmUpRounds = 8;

    // Direct commands per second, as a divisor of the rate of the payments.
    private const int DirectDivisor = 10;

    private const int OtherCurrencyPercent = 1;

    private long _start;

    /// <summary>Runs the soak.</summary>
    /// <param name="schedule">The faults, in order of time.</param>
    /// <param name="journal">The file to which the answers are written. Queued payments and commands without a caller
    /// get one beside it each.</param>
    /// <param name="cancellationToken">Cancels the soak without restoring the stack.</param>
    public async Task<SoakResult> RunAsync(
        IReadOnlyList<Fault> schedule, string journal, CancellationToken cancellationToken)
    {
        await using var traffic = new Traffic(
            new TrafficOptions
            {
                Proxies = stack.ProxyAddresses,
                RestProxies = stack.RestAddresses,
                AdminProxies = stack.Credentials is null ? null : stack.AdminAddresses,
                Credentials = stack.Credentials,
                CommandsMayBeLost = schedule.Any(fault => FaultProfile.DeletesCommands(fault.Kind)),
                Journal = journal,
                Workers = options.Workers,
                Rate = options.Rate,
                Seed = options.Seed,
                OtherCurrencyPercent = OtherCurrencyPercent,
            },
            time);
        await traffic.SetLowLimitsAsync(cancellationToken);
        traffic.Start();
        await traffic.WaitForMoreAsync(options.Workers * WarmUpRounds, FinishBound, cancellationToken);
        var directJournal = Path.ChangeExtension(journal, ".direct.csv");
        await using var direct = new DirectCommands(
            stack.BootstrapServers!, Math.Max(1, options.Rate / DirectDivisor), options.Seed, directJournal, time);
        using var injector = new FaultInjector(
            stack, options.Network, options.OtherPrograms, time, line => Say(line))
        {
            Deleted = direct.Drop,
            // What is missing even then, the end of the soak finds.
            PublishedAsync = stopping => EventFeed.MissingAsync(
                stack.BootstrapServers!, [.. stack.Databases.Values], InFlightBound, time, stopping),
        };
        _start = time.GetTimestamp();
        var (faults, callers) = await UnderFaultsAsync(schedule, injector, traffic, direct, cancellationToken);
        var forgotten = await direct.MissingAsync([.. stack.Databases.Values], PublishBound, cancellationToken);
        var unpublished = await EventFeed.MissingAsync(
            stack.BootstrapServers!, [.. stack.Databases.Values], PublishBound, time, cancellationToken);
        var bad = injector.BadRecordsSent;
        var missing = await DeadLetterOrigins.MissingAsync(
            stack.BootstrapServers!, bad, PublishBound, cancellationToken);
        // Includes the proxies, because the balances in the backends' memory must also equal the sums of the events.
        var auditor = new Auditor([.. stack.Databases.Values])
        {
            Proxies = stack.ProxyAddresses,
            ProxiesCaFile = stack.Credentials?.CaFile,
            Token = stack.Credentials?.Token(
                "audit", [Scopes.AccountsRead], ["*/*"], TimeSpan.FromHours(1), TimeProvider.System),
            JournalsAreComplete = options.IsAlone,
            OpeningLimits = BillingStack.OpeningLimits,
        };
        var audit = await auditor.RunAsync([.. traffic.Journals, directJournal], cancellationToken);
        var chains = await new ChainVerifier([.. stack.Databases.Values]).RunAsync(null, cancellationToken);
        return new SoakResult(
            faults, [.. traffic.Calls.LongestOf(Windows(faults)).Select(ticks => time.GetElapsedTime(0, ticks))],
            [.. faults.Select(f => time.GetElapsedTime(_start, f.Injected))], Slowest(traffic.Calls), callers,
            injector.EndedThemselves, bad.Count, bad.Count - missing.Count, direct.Acknowledged, forgotten, unpublished,
            [.. chains.Broken], audit);
    }

    private List<(TimeSpan Began, TimeSpan Took, string What)> Slowest(CallTimes calls) =>
    [
        .. calls.Slowest(SlowestNamed)
            .Select(c => (time.GetElapsedTime(_start, c.Start), time.GetElapsedTime(c.Start, c.End), c.What)),
    ];

    // Services that end by themselves are restarted until the last caller has its answer:
    // a fault may show in them after its repair.
    private async Task<(IReadOnlyList<InjectedFault> Faults, TrafficResult Callers)> UnderFaultsAsync(
        IReadOnlyList<Fault> schedule, FaultInjector injector, Traffic traffic,
        DirectCommands direct, CancellationToken cancellationToken)
    {
        using var stopSending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        using var stopWatching = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var sending = direct.RunAsync(stopSending.Token);
        var watching = injector.WatchAsync(stopWatching.Token);
        var mover = new ShardMover(stack, options.Seed, time);
        var moving = mover.RunAsync(stopSending.Token);
        try
        {
            IReadOnlyList<InjectedFault> faults;
            try
            {
                faults = await InjectAsync(schedule, injector, cancellationToken);
                await injector.RepairAsync(cancellationToken);
            }
            finally
            {
                await stopSending.CancelAsync();
                await sending;
                await moving;
            }
            if (mover.Moves > 0)
            {
                Say($"{mover.Moves} shards were moved");
            }
            Say("all faults are repaired; waiting for the workers to finish");
            return (faults, await traffic.StopAsync(FinishBound));
        }
        finally
        {
            await stopWatching.CancelAsync();
            await watching.ContinueWith(static _ => { }, TaskScheduler.Default);
        }
    }

    private async Task<IReadOnlyList<InjectedFault>> InjectAsync(
        IReadOnlyList<Fault> schedule, FaultInjector injector, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var injecting = new List<Task<InjectedFault>>();
        try
        {
            foreach (var fault in schedule)
            {
                await Task.Delay(RemainingUntil(fault.At), time, stop.Token);
                injecting.Add(OneAsync(fault));
            }
            var faults = await Task.WhenAll(injecting);
            await Task.Delay(RemainingUntil(options.Duration), time, cancellationToken);
            return [.. faults.OrderBy(f => f.Injected)];
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            await Task.WhenAll(injecting);
            throw;
        }
        finally
        {
            await stop.CancelAsync();
            await Task.WhenAll(injecting).ContinueWith(static _ => { }, TaskScheduler.Default);
        }

        // What cannot be repaired ends the soak: the repairs of others may wait for it for ever.
        async Task<InjectedFault> OneAsync(Fault fault)
        {
            try
            {
                return await injector.RunAsync(fault, () => Say(fault.What), stop.Token);
            }
            catch
            {
                await stop.CancelAsync();
                throw;
            }
        }
    }

    private TimeSpan RemainingUntil(TimeSpan at)
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
