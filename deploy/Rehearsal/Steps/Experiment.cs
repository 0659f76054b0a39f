using System.Globalization;
using Billing.Client.Load;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>The prototype's experiment across machines: every client sends all its payments at once; once undisturbed, once with
/// a machine cut off in the middle.</summary>
internal sealed class Experiment(RehearsalOptions options, Platform platform)
{
    private const int OtherCurrencyPercent = 1;
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(20);

    /// <summary>How long a machine or a zone is cut off: long enough for its group and its brokers to notice.</summary>
    public static readonly TimeSpan CutOff = TimeSpan.FromSeconds(12);

    /// <summary>The burst.</summary>
    /// <param name="name">Tells its files from others'.</param>
    /// <param name="seed">Decides accounts and amounts.</param>
    /// <param name="cutOff">Machines to cut off once a tenth of the payments are answered; none by default.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public async Task<LoadRun> BurstAsync(string name, int seed, IReadOnlyList<Machine> cutOff, CancellationToken cancellationToken)
    {
        await using var fleet = Fleet.Start(
            platform.Site, platform.Tier("client"), name, seed, "--requests", Text(options.Requests), "--warm-up", "1000", "--other-currency", Text(OtherCurrencyPercent));
        await fleet.WaitUntilReadyAsync(cancellationToken);
        var running = fleet.RunAsync(cancellationToken);
        if (cutOff.Count > 0)
        {
            using var poll = new PeriodicTimer(PollInterval);
            while (!running.IsCompleted && fleet.Done * 10 < options.Requests * platform.Tier("client").Count)
            {
                await poll.WaitForNextTickAsync(cancellationToken);
            }
            await CutOffAsync(cutOff, cancellationToken);
        }
        return LoadRun.Of(name, await running);
    }

    /// <summary>Pays evenly from the clients that are given while something is done.</summary>
    public async Task<LoadRun> PayingAsync(
        string name, int seed, IReadOnlyList<RunningMachine> clients, Func<Task> action, CancellationToken cancellationToken)
    {
        // More than will be sent: the clients end when it is enough.
        const int RequestsMax = 1_000_000;
        await using var fleet = Fleet.Start(
            platform.Site, clients, name, seed, "--requests", Text(RequestsMax), "--rate", Text(options.Rate), "--warm-up", "100", "--other-currency", Text(OtherCurrencyPercent));
        await fleet.WaitUntilReadyAsync(cancellationToken);
        var running = fleet.RunAsync(cancellationToken);
        await action();
        fleet.Enough();
        return LoadRun.Of(name, await running);
    }

    /// <summary>Cuts machines off for a while.</summary>
    public async Task CutOffAsync(IReadOnlyList<Machine> machines, CancellationToken cancellationToken)
    {
        await platform.Site.Network.CutOffAsync(machines, cancellationToken);
        await Task.Delay(CutOff, cancellationToken);
        await platform.Site.Network.ReconnectAsync(machines, cancellationToken);
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

/// <summary>What the clients measured together.</summary>
/// <param name="Name">Of the run.</param>
/// <param name="Payments">All clients' payments, in seconds, each timed from its call.</param>
/// <param name="SinceStart">The same from when the burst began; null where they were not sent at once.</param>
/// <param name="TotalS">From the first start to the last end, in seconds.</param>
/// <param name="Retried">Calls that the clients sent again.</param>
/// <param name="Answered">Payments answered, the warm-up's included.</param>
/// <param name="Errors">Failed calls, by what was said of them.</param>
internal sealed record LoadRun(string Name, Summary Payments, Summary? SinceStart, double TotalS, long Retried, long Answered, IReadOnlyDictionary<string, int> Errors)
{
    public static LoadRun Of(string name, IReadOnlyList<LoadResult> results) => new(
        name, Summary.Of([.. results.Select(r => r.Payments)]),
        results.Any(r => r.Payments.SinceStartUs.Count > 0) ? LoadResult.SinceStart(results, r => r.Payments) : null, LoadResult.SpanS(results), results.Sum(r => r.Retried),
        results.Sum(r => r.PaymentsAnswered),
        results.SelectMany(r => r.Payments.Errors).GroupBy(e => e.Key, e => e.Value).ToDictionary(e => e.Key, e => e.Sum()));
}
