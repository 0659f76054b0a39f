using System.CommandLine;
using Billing.Backends.Balances;
using Billing.Backends.Hosting;
using Billing.Cli.Arguments;
using Billing.Cli.Background;
using Spectre.Console;

namespace Billing.Cli.Commands.Operations;

/// <summary>Builds an empty view of the balances from the event store, as a balance backend does when it starts, and prints the
/// time and memory that it takes.</summary>
internal static class RebuildCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var postgres = new Option<string?>("--postgres") { Description = "Connection string of the event store; that of the stack in the background by default" };
        var command = new Command("rebuild", "Builds the view of the balances from the event store and prints the time and memory that it takes.") { postgres };
        return command.Does(async (parsed, cancellationToken) =>
        {
            var connection = await StackState.ConnectionStringAsync(parsed.GetValue(postgres));
            await using var services = SchemaCommand.Services(connection);
            var before = GC.GetTotalMemory(forceFullCollection: true);
            var start = TimeProvider.System.GetTimestamp();
            var done = await RebuildAsync(console, services, cancellationToken);
            var seconds = TimeProvider.System.GetElapsedTime(start).TotalSeconds;
            var bytes = GC.GetTotalMemory(forceFullCollection: true) - before;
            console.WriteLine($"{done.Accounts:N0} accounts from {done.Events:N0} events in {seconds:0.000} s, {done.Events / seconds:N0} events/s; the view takes {bytes / 1e6:0.0} MB, {bytes / Math.Max(1, done.Accounts):N0} bytes per account.");
            return 0;
        });
    }

    private static Task<RebuildProgress> RebuildAsync(
        IAnsiConsole console, IServiceProvider services, CancellationToken cancellationToken) =>
        console.Progress()
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn())
            .StartAsync(progress =>
            {
                var bar = progress.AddTask("Events");
                return services.RebuildBalancesAsync(
                    at =>
                    {
                        bar.MaxValue = Math.Max(1, at.EventsEstimate);
                        bar.Value = at.Events;
                    },
                    cancellationToken);
            });
}
