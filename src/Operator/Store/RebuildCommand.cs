using System.CommandLine;
using Billing.Backends.Hosting;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Operator.Store;

/// <summary>Fills an empty view of the balances from the event store, as a balance backend does after its start,
/// and prints the time and memory that it takes.</summary>
internal static class RebuildCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var postgres = Flags.EventStore();
        var command = new Command(
            "rebuild",
            "Fills the view of the balances from the event store, as a balance backend does after its start, "
                + "and prints the time and memory that it takes.") { postgres };
        return command.Does(async (parsed, cancellationToken) =>
        {
            await using var services = StoreServices.Of(
                await StackInBackground.DatabasesAsync(parsed.GetValue(postgres)));
            await services.EnsureEventStoreAsync(cancellationToken);
            var before = GC.GetTotalMemory(forceFullCollection: true);
            var start = TimeProvider.System.GetTimestamp();
            var accounts = await console.Status().StartAsync(
                "Reading accounts", status => services.FillBalancesAsync(
                    count => status.Status = $"{count:N0} accounts", cancellationToken));
            var seconds = TimeProvider.System.GetElapsedTime(start).TotalSeconds;
            var bytes = GC.GetTotalMemory(forceFullCollection: true) - before;
            console.WriteLine(
                $"{accounts:N0} accounts in {seconds:0.000} s, {accounts / seconds:N0} a second; "
                + $"the view takes {bytes / 1e6:0.0} MB, {bytes / Math.Max(1, accounts):N0} bytes for each account.");
            return 0;
        });
    }
}
