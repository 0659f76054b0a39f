using Billing.Backends.EventStore;
using Billing.Hosting;
using Billing.Messaging;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Hosting;

/// <summary>Says at the start what a backend may hold in memory, and which setting is more than there is memory
/// for.</summary>
internal sealed partial class MemoryAtStart(
    MemoryBudget budget, CommandMemory commands, IOptions<BackendOptions> options, IOptions<EventStoreOptions> store,
    ILogger<MemoryAtStart> logger)
    : IHostedService
{
    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken)
    {
        Divided(MemoryBudget.Text(budget.Bytes), BackendMemory.Describe(options.Value, budget, commands));
        if (BackendMemory.Excess(options.Value, budget, store.Value.DatabasesCount) is { } excess)
        {
            Exceeded(excess);
        }
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    [LoggerMessage(260, LogLevel.Information, "Of {Memory} of memory, {Shares}")]
    private partial void Divided(string memory, string shares);

    [LoggerMessage(261, LogLevel.Warning, "{Excess}")]
    private partial void Exceeded(string excess);
}
