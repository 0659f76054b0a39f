using Billing.Cli.Experiment;
using Billing.Cli.Topology;
using Spectre.Console;

namespace Billing.Load.Measuring;

/// <summary>Starts stacks with what happens shown on the console.</summary>
internal static class Starting
{
    public static Task<BillingStack> StackAsync(StackOptions options, IAnsiConsole console, CancellationToken cancellationToken) =>
        console.Status().StartAsync(
            "Starting", status => BillingStack.StartAsync(options, new StatusProgress(console, status), cancellationToken));
}
