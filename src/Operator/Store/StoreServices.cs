using Billing.Backends.Hosting;
using Billing.Hosting;
using Microsoft.Extensions.Hosting.Internal;

namespace Billing.Operator.Store;

/// <summary>A backend's services for the event store, configured with its databases alone.</summary>
public static class StoreServices
{
    /// <summary>Creates the services; the caller disposes of them.</summary>
    /// <param name="databases">The connection string of each database, by its name.</param>
    public static ServiceProvider Of(IReadOnlyDictionary<string, string> databases) => new ServiceCollection()
        .AddLogging()
        .AddSingleton<IHostApplicationLifetime, ApplicationLifetime>()
        .AddSingleton<Supervisor>()
        .AddBackendCore(Configuration(databases))
        .BuildServiceProvider();

    /// <summary>The settings of a backend, keyed by environment variable.</summary>
    /// <param name="databases">The connection string of each database, by its name.</param>
    public static IReadOnlyDictionary<string, string?> Settings(IReadOnlyDictionary<string, string> databases) =>
        databases.Count == 1
            ? new Dictionary<string, string?>
            {
                ["Billing__EventStore__ConnectionString"] = databases.Values.Single(),
            }
            : databases.ToDictionary(
                database => "Billing__EventStore__Databases__" + database.Key, string? (database) => database.Value);

    /// <summary>The settings of a program that uses the event store and no transport.</summary>
    /// <param name="databases">The connection string of each database, by its name.</param>
    public static IConfiguration Configuration(IReadOnlyDictionary<string, string> databases) =>
        new ConfigurationBuilder()
            .AddInMemoryCollection(Settings(databases).Select(setting =>
                KeyValuePair.Create(setting.Key.Replace("__", ":", StringComparison.Ordinal), setting.Value)))
            .Build();
}
