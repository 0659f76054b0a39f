using Billing.LocalStack;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>Starts stacks with what happens shown on the console.</summary>
internal static class Starting
{
    public static Task<BillingStack> StackAsync(StackOptions options, IAnsiConsole console, CancellationToken cancellationToken) =>
        console.Status().StartAsync(
            "Starting", status => BillingStack.StartAsync(options, new StatusProgress(console, status), cancellationToken));

    /// <summary>Shows what is being done: on a terminal in place, elsewhere a line each.</summary>
    private sealed class StatusProgress(IAnsiConsole console, StatusContext status) : IProgress<string>
    {
        public void Report(string value)
        {
            if (console.Profile.Capabilities.Interactive)
            {
                status.Status = value;
            }
            else
            {
                console.WriteLine(value);
            }
        }
    }
}
