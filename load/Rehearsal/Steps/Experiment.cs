using Billing.Driver;
using Billing.LocalStack.Processes;
using Billing.Measuring.Loads;
using Billing.Rehearsal.Machines;

namespace Billing.Rehearsal.Steps;

/// <summary>The prototype's experiment on several machines: every client sends all its payments at once, first
/// undisturbed, then with a machine cut off during the burst.</summary>
internal sealed class Experiment(RehearsalOptions options, Platform platform)
{
    private const int OtherCurrencyPercent = 1;

    /// <summary>How long a machine or a zone is cut off: long enough to be detected by the consumer groups, the brokers
    /// and every connection.</summary>
    public static readonly TimeSpan CutOff = TimeSpan.FromMinutes(1);

    /// <param name="cutOff">Machines to cut off when a tenth of the payments have been answered;
    /// empty for none.</param>
    public async Task<LoadRun> BurstAsync(
        string name, int seed, IReadOnlyList<Machine> cutOff, CancellationToken cancellationToken)
    {
        await using var load = await ClientMachines.StartAsync(
            platform.Site, platform.Tier("client"), name,
            Load(new LoadShape.Burst(options.Requests), warmUp: 1000, seed));
        await load.WaitUntilReadyAsync(cancellationToken);
        var running = load.RunAsync([], cancellationToken);
        if (cutOff.Count > 0)
        {
            await Poll.UntilAsync(
                () => running.IsCompleted || load.Done * 10 >= options.Requests * platform.Tier("client").Count,
                cancellationToken);
            await CutOffAsync(cutOff, cancellationToken);
        }
        return LoadRun.Of(name, await running);
    }

    /// <summary>Sends payments at a constant rate from the given clients during an action.</summary>
    public async Task<LoadRun> PayingAsync(
        string name, int seed, IReadOnlyList<RunningMachine> clients,
        Func<Task> action, CancellationToken cancellationToken)
    {
        await using var load = await ClientMachines.StartAsync(
            platform.Site, clients, name,
            Load(LoadShape.Open.At(options.Rate, TimeSpan.FromHours(1).TotalSeconds), warmUp: 100, seed));
        await load.WaitUntilReadyAsync(cancellationToken);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var running = load.RunAsync([], enough.Token);
        await action();
        await enough.CancelAsync();
        return LoadRun.Of(name, await running);
    }

    public async Task CutOffAsync(IReadOnlyList<Machine> machines, CancellationToken cancellationToken)
    {
        await platform.Site.Network.CutOffAsync(machines, cancellationToken);
        await Task.Delay(CutOff, cancellationToken);
        await platform.Site.Network.ReconnectAsync(machines, cancellationToken);
    }

    private static LoadSpec Load(LoadShape shape, int warmUp, int seed) => new()
    {
        Addresses = [],
        Shape = shape,
        WarmUp = LoadShape.WarmUpOf(warmUp),
        OtherCurrencyPercent = OtherCurrencyPercent,
        DeadlineS = 120,
        Seed = seed,
    };
}

/// <summary>The measurements of all clients in a run.</summary>
/// <param name="Name">The name of the run.</param>
/// <param name="Payments">Response times of all clients' payments, each from its call on, and for bursts
/// also since its start.</param>
/// <param name="IsBurst">Whether the payments were sent at once.</param>
/// <param name="TotalS">Time from the first start to the last end, in seconds.</param>
/// <param name="Answered">Number of answered payments, including the warm-up.</param>
internal sealed record LoadRun(
    string Name, KindFigures Payments, bool IsBurst, double TotalS, long Retried, long Answered)
{
    public static LoadRun Of(string name, LoadFigures load) =>
        new(
            name, load.Phases[0].Payments, load.Phases[0].Payments.SinceStart.MaxMs > 0,
            load.DurationS, load.Retried, load.Acknowledged);
}
