using System.CommandLine;
using Billing.Backends;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.Cli.Arguments;
using Billing.Hosting;
using Microsoft.Extensions.Hosting.Internal;
using Spectre.Console;

namespace Billing.Cli.Commands.Operations;

/// <summary><c>schema</c>: creates the tables of the event store, as a backend does when it starts, for databases where the
/// backends' role has no permission for it.</summary>
internal static class SchemaCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var postgres = new Option<string>("--postgres")
        {
            Description = "Connection string of a role that may create tables",
            HelpName = "CONNECTION",
            Required = true,
        };
        var command = new Command("schema", "Creates the missing tables of the event store.") { postgres };
        return command.Does(async (parsed, cancellationToken) =>
        {
            await using var services = Services(parsed.GetRequiredValue(postgres));
            await services.GetRequiredService<EventStoreSchema>().EnsureAsync(cancellationToken);
            console.WriteLine("The tables of the event store exist.");
            return 0;
        });
    }

    /// <summary>Returns a backend's services for the event store, configured with a database only.</summary>
    internal static ServiceProvider Services(string connection) => new ServiceCollection()
        .AddLogging()
        .AddSingleton<IHostApplicationLifetime, ApplicationLifetime>()
        .AddSingleton<Supervisor>()
        .AddBackendCore(new ConfigurationBuilder().AddInMemoryCollection(new Dictionary<string, string?>
        {
            [EventStoreOptions.Section + ":ConnectionString"] = connection,
            [BackendOptions.Section + ":Role"] = nameof(BackendRole.Balances),
        }).Build())
        .BuildServiceProvider();
}
