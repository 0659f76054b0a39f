using Billing.LocalStack;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>Starts stacks and shows each step on the console: on a terminal in a status line,
/// otherwise as one line per step.</summary>
internal static class Starting
{
    public static Task<BillingStack> StackAsync(
        StackOptions options, IAnsiConsole console, CancellationToken cancellationToken) =>
        console.Profile.Capabilities.Interactive
            ? console.Status().StartAsync(
                "Starting the stack",
                status => BillingStack.StartAsync(options, new InPlace(status), cancellationToken))
            : BillingStack.StartAsync(options, new LineByLine(console), cancellationToken);

    private sealed class InPlace(StatusContext status) : IProgress<string>
    {
        public void Report(string value) => status.Status = value;
    }

    private sealed class LineByLine(IAnsiConsole console) : IProgress<string>
    {
        public void Report(string value) => console.WriteLine(value);
    }
}
