using Billing.LoadClient;
using Billing.Measuring.Bursts;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>The prototype's experiment on several machines: every client sends all its payments at once, first undisturbed, then
/// with a machine cut off during the burst.</summary>
internal sealed class Experiment(RehearsalOptions options, Platform platform)
{
    private const string OtherCurrencyPercent = "1";
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(20);

    /// <summary>How long a machine or a zone is cut off: long enough to be detected by the consumer groups and the brokers.
    /// </summary>
    public static readonly TimeSpan CutOff = TimeSpan.FromSeconds(12);

    /// <param name="cutOff">Machines to cut off when a tenth of the payments have been answered; empty for none.</param>
    public async Task<LoadRun> BurstAsync(string name, int seed, IReadOnlyList<Machine> cutOff, CancellationToken cancellationToken)
    {
        await using var fleet = Fleet.Start(
            platform.Site, platform.Tier("client"), name, seed,
            "--requests", $"{options.Requests}", "--warm-up", "1000", "--other-currency", OtherCurrencyPercent);
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

    /// <summary>Sends payments at a constant rate from the given clients during an action.</summary>
    public async Task<LoadRun> PayingAsync(
        string name, int seed, IReadOnlyList<RunningMachine> clients, Func<Task> action, CancellationToken cancellationToken)
    {
        // More than will be sent: the clients are stopped after the action.
        const string RequestsMax = "1000000";
        await using var fleet = Fleet.Start(
            platform.Site, clients, name, seed,
            "--requests", RequestsMax, "--rate", $"{options.Rate}", "--warm-up", "100", "--other-currency", OtherCurrencyPercent);
        await fleet.WaitUntilReadyAsync(cancellationToken);
        var running = fleet.RunAsync(cancellationToken);
        await action();
        fleet.StopSending();
        return LoadRun.Of(name, await running);
    }

    /// <summary>Cuts machines off for <see cref="CutOff"/>.</summary>
    public async Task CutOffAsync(IReadOnlyList<Machine> machines, CancellationToken cancellationToken)
    {
        await platform.Site.Network.CutOffAsync(machines, cancellationToken);
        await Task.Delay(CutOff, cancellationToken);
        await platform.Site.Network.ReconnectAsync(machines, cancellationToken);
    }
}

/// <summary>The measurements of all clients in a run.</summary>
/// <param name="Payments">Response times of all clients' payments, in seconds, each from its call on.</param>
/// <param name="SinceStart">The same since the start of the burst; null if they were not sent at once.</param>
/// <param name="TotalS">Time from the first start to the last end, in seconds.</param>
/// <param name="Answered">Number of answered payments, including the warm-up.</param>
/// <param name="Errors">Number of failed calls by error message.</param>
internal sealed record LoadRun(string Name, Summary Payments, Summary? SinceStart, double TotalS, long Retried, long Answered, IReadOnlyDictionary<string, int> Errors)
{
    public static LoadRun Of(string name, IReadOnlyList<LoadResult> results) => new(
        name, Summary.Of([.. results.Select(r => r.Payments)]),
        results.Any(r => r.Payments.SinceStartUs.Count > 0) ? Summary.SinceStart(results, r => r.Payments) : null, Summary.SpanS(results), results.Sum(r => r.Retried),
        results.Sum(r => r.PaymentsAnswered),
        results.SelectMany(r => r.Payments.Errors).GroupBy(e => e.Key, e => e.Value).ToDictionary(e => e.Key, e => e.Sum()));
}
