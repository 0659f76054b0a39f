using Billing.Scenarios;

namespace Billing.ScenarioTests;

public sealed class BurstGateTests
{
    [Fact]
    public async Task Nobody_passes_the_gate_before_the_last_has_arrived()
    {
        var gate = new BurstGate(3, TimeProvider.System);
        Task[] first = [gate.WaitForAllAsync(CancellationToken.None), gate.WaitForAllAsync(CancellationToken.None)];
        Assert.All(first, arrival => Assert.False(arrival.IsCompleted));

        await gate.WaitForAllAsync(CancellationToken.None);

        await Task.WhenAll(first);
    }

    [Fact]
    public async Task An_interrupt_releases_everybody_who_waits()
    {
        var gate = new BurstGate(3, TimeProvider.System);
        using var interrupt = new CancellationTokenSource();
        Task[] waiting = [gate.WaitForAllAsync(interrupt.Token), gate.WaitForAllAsync(interrupt.Token)];

        await interrupt.CancelAsync();

        await Task.WhenAll(waiting);
    }
}
