using System.CommandLine;
using Billing.Backends.Hosting;
using Billing.Operator.Arguments;
using Spectre.Console;

namespace Billing.Operator.Store;

/// <summary><c>schema</c>: creates the tables of the event store, as a backend does when it starts, for databases where
/// the backends' role has no permission for it.</summary>
internal static class SchemaCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var postgres = Flags.EventStore();
        (postgres.Description, postgres.Required) = (
            "Connection string of a role that may create tables; of several databases, each as NAME:CONNECTION with a "
                + "--postgres of its own", true);
        var command = new Command("schema", "Creates the missing tables of the event store.") { postgres };
        return command.Does(async (parsed, cancellationToken) =>
        {
            await using var services = StoreServices.Of(parsed.GetRequiredValue(postgres));
            await services.EnsureEventStoreAsync(cancellationToken);
            console.WriteLine("The tables of the event store exist.");
            return 0;
        });
    }
}
