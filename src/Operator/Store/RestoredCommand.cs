using System.CommandLine;
using Billing.Backends.Hosting;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Operator.Store;

/// <summary><c>restored</c>: begins a new incarnation of the event store, after it was restored
/// to an earlier time.</summary>
internal static class RestoredCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var postgres = Flags.EventStore();
        var command = new Command(
            "restored",
            "Begins a new incarnation of the event store: run it after a database was restored to an earlier time, "
                + "before the backends start. "
            + "Events are recorded under new numbers from then on, so that nobody takes them for the lost ones of the "
            + "same versions. "
            + "To run it again does no harm.")
        {
            postgres,
        };
        return command.Does(async (parsed, cancellationToken) =>
        {
            await using var services = StoreServices.Of(
                await StackInBackground.DatabasesAsync(parsed.GetValue(postgres)));
            return await Guarded.AskingPostgresAsync(async () =>
            {
                await services.BeginIncarnationAsync(cancellationToken);
                console.WriteLine("A new incarnation has begun. `./billing replay` shows what was lost.");
                return 0;
            });
        });
    }
}
