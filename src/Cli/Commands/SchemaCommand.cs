using System.CommandLine;
using Billing.Backends;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.Messaging.Hosting;
using Microsoft.Extensions.Hosting.Internal;
using Spectre.Console;

namespace Billing.Cli.Commands;

/// <summary><c>schema</c>: makes the tables of the event store, as a backend does when it starts, for databases where the
/// backends' role may not.</summary>
internal static class SchemaCommand
{
    public static Command Create(IAnsiConsole console)
    {
        var postgres = new Option<string>("--postgres")
        {
            Description = "Connection string of a role that may make tables",
            HelpName = "CONNECTION",
            Required = true,
        };
        var command = new Command("schema", "Makes the tables of the event store where they are missing.") { postgres };
        command.SetAction((parsed, cancellationToken) => BillingCommand.GuardedAsync(async () =>
        {
            await using var services = Services(parsed.GetRequiredValue(postgres));
            await services.GetRequiredService<EventStoreSchema>().EnsureAsync(cancellationToken);
            console.WriteLine("The tables of the event store are there.");
            return 0;
        }));
        return command;
    }

    /// <summary>A backend's parts around the event store, on a database and with nothing else set.</summary>
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
