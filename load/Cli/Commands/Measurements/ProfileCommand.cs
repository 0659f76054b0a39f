using System.CommandLine;
using Billing.Cli.Arguments;
using Billing.LocalStack;
using Billing.Measuring.Profiling;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Cli.Commands.Measurements;

/// <summary><c>./billing profile</c>.</summary>
internal static class ProfileCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var inFlight = ListFlags.Numbers("--in-flight", "Numbers of payments in flight in the closed loop, measured in turn", [1, 200, 1000], 1, 10_000);
        var proxies = Flags.Number("--proxies", "Proxies", 3, 1, 100);
        var payments = Flags.Number("--payment-backends", "Payment backends", 3, 1, 100);
        var balances = Flags.Number("--balance-backends", "Balance backends", 3, 1, 100);
        var partitions = Flags.Number("--partitions", "Partitions of each topic; 0 for enough to assign one to every backend", 0, 0, 1000);
        var databases = StackFlags.DatabaseCount();
        var during = DurationFlag.During("Duration of the measurement of each number in flight", TimeSpan.FromSeconds(15));
        var warmUp = DurationFlag.WarmUp("Duration of the warm-up before each measurement", TimeSpan.FromSeconds(10));
        var folder = MeasurementFlags.Folder();
        var command = new Command("profile", "Breaks down the time, CPU, requests and allocations of one payment.")
        {
            inFlight, proxies, payments, balances, partitions, databases, during, warmUp, folder,
        };
        command.SetAction((parsed, cancellationToken) => Guarded.RunAsync(() => new PaymentProfile(
            new ProfileOptions
            {
                Stack = new StackOptions
                {
                    Proxies = parsed.GetValue(proxies),
                    PaymentBackends = parsed.GetValue(payments),
                    BalanceBackends = parsed.GetValue(balances),
                    Partitions = parsed.GetValue(partitions),
                    Databases = parsed.GetValue(databases),
                },
                InFlight = parsed.GetRequiredValue(inFlight),
                During = parsed.GetValue(during),
                WarmUp = parsed.GetValue(warmUp),
            },
            MeasurementFlags.Measurement(parsed, folder, ProfileResult.Format.Kind, console), console).RunAsync(cancellationToken)));
        return command;
    }
}
