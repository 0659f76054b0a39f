using System.Globalization;
using Billing.Backends;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Hosting;
using Billing.Hosting;
using Billing.LocalStack;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Billing.Operator.Store;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Hosting.Internal;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>An event store on its own PostgreSQL server, and the parts of a balance backend that read it.</summary>
public sealed class EventStoreFixture : IAsyncLifetime
{
    private readonly StackFolder _folder = StackFolder.Create();
    private readonly FreePorts _ports = new();
    private readonly List<ServiceProvider> _services = [];
    private LocalPostgres? _postgres;

    public static Account Opened { get; } = Account.Opened(new OpeningLimits(BillingStack.OpeningLimits));

    public LocalPostgres Postgres => _postgres ?? throw new InvalidOperationException("PostgreSQL was not started.");

    /// <summary>The backend that the tests share.</summary>
    public ServiceProvider Backend => _services[0];

    public async ValueTask InitializeAsync()
    {
        _postgres = await LocalPostgres.StartNewAsync(_folder, _ports);
        await NewBackend().EnsureEventStoreAsync(CancellationToken.None);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var services in _services)
        {
            await services.DisposeAsync();
        }
        if (_postgres is not null)
        {
            // What the tests have stored is deleted, and need not be on the disk before that.
            await _postgres.CrashAsync();
            await _postgres.DisposeAsync();
        }
        await _folder.DisposeAsync();
        _ports.Dispose();
    }

    /// <summary>Creates a backend with its own, still empty view.</summary>
    public ServiceProvider NewBackend() => NewBackend(Postgres.ConnectionString);

    /// <summary>Creates a backend with its own database or connection settings.</summary>
    public ServiceProvider NewBackend(string connectionString, params IEnumerable<(string Name, string Value)> settings)
    {
        var services = new ServiceCollection()
            .AddLogging()
            .AddSingleton<IHostApplicationLifetime, ApplicationLifetime>()
            .AddSingleton<Supervisor>()
            .AddBackendCore(new ConfigurationBuilder().AddInMemoryCollection(new Dictionary<string, string?>
            {
                [EventStoreOptions.Section + ":ConnectionString"] = connectionString,
                [BackendOptions.Section + ":Role"] = nameof(BackendRole.Balances),
            }).AddInMemoryCollection(BillingStack.OpeningLimits.Select(limit => KeyValuePair.Create(
                $"{BackendOptions.Section}:{nameof(BackendOptions.OpeningLimits)}:{limit.Key}",
                (string?)limit.Value.ToString(CultureInfo.InvariantCulture)))).AddInMemoryCollection(settings.Select(
                s => KeyValuePair.Create(EventStoreOptions.Section + ":" + s.Name, (string?)s.Value))).Build())
            .BuildServiceProvider();
        _services.Add(services);
        return services;
    }

    /// <summary>Creates a database: an empty one, or a copy of another one, to which nothing may be
    /// connected.</summary>
    /// <returns>Its connection string.</returns>
    public async Task<string> NewDatabaseAsync(string? copied = null)
    {
        var name = "store_" + Guid.NewGuid().ToString("N");
        await ExecuteAsync(
            $"create database {name} template "
            + $"{(copied is null ? "default" : new NpgsqlConnectionStringBuilder(copied).Database)}");
        return new NpgsqlConnectionStringBuilder(Postgres.ConnectionString) { Database = name }.ConnectionString;
    }

    /// <summary>Copies two databases that <see cref="ServicesOf"/> has filled.</summary>
    /// <returns>The connection string of each copy.</returns>
    public async Task<string[]> CopyAsync(string[] connections) =>
        [await NewDatabaseAsync(connections[0]), await NewDatabaseAsync(connections[1])];

    /// <summary>Names two databases.</summary>
    public static SortedDictionary<string, string> Named(string[] connections) =>
        new(StringComparer.Ordinal) { ["one"] = connections[0], ["two"] = connections[1] };

    /// <summary>The services of a store of two databases that are to be copied:
    /// nothing stays connected to them.</summary>
    public static ServiceProvider ServicesOf(string[] connections) => StoreServices.Of(Named(Array.ConvertAll(
        connections,
        connection => new NpgsqlConnectionStringBuilder(connection) { Pooling = false }.ConnectionString)));

    /// <summary>Appends facts to a new stream.</summary>
    /// <returns>The account after them.</returns>
    public Task<Account> AppendAsync(string streamId, IEnumerable<AccountEvent> facts) =>
        AppendAsync(Backend.Database().Store, streamId, Opened, facts);

    /// <summary>Appends facts to an account's stream, as they state the account.</summary>
    /// <returns>The account after them, as it is read.</returns>
    public static async Task<Account> AppendAsync(
        IAccountStore accounts, string streamId, Account account, IEnumerable<AccountEvent> facts)
    {
        var events = facts.Select(fact =>
        {
            var added = NewEvent.Of(streamId, fact.StatedOn(account), account);
            account = added.After;
            return added;
        }).ToList();
        await accounts.AppendAsync(events, [], CancellationToken.None);
        return account;
    }

    public async Task ExecuteAsync(string sql)
    {
        await using var database = NpgsqlDataSource.Create(Postgres.ConnectionString);
        await using var command = database.CreateCommand(sql);
        await command.ExecuteNonQueryAsync();
    }

    /// <summary>Returns facts of alternating kinds, which do not yet state an account.</summary>
    public static IEnumerable<AccountEvent> Facts(int count, int seed = 0)
    {
        var decidedAt = new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);
        for (var n = 1; n <= count; n++)
        {
            var (id, at) = (Guid.NewGuid(), decidedAt.AddSeconds(n));
            yield return (n % 5) switch
            {
                3 => new PaymentDeclined(id, 50_000 + n, "USD", V1.DeclineReason.CreditLimitExceeded, at)
                {
                    Balance = 0,
                },
                4 => new CreditLimitChanged(id, 20_000 + n, "USD", at) { Balance = 0 },
                _ => new PaymentAccepted(id, n + (seed / 100m), "USD", at) { Balance = 0 },
            };
        }
    }
}

/// <summary>The only database of a backend.</summary>
internal static class OnlyDatabase
{
    public static EventStoreDatabase Database(this IServiceProvider backend) =>
        backend.GetRequiredService<EventStoreDatabases>().All.Single();

    /// <summary>Executes a statement on the primary.</summary>
    /// <returns>The first column of the first row.</returns>
    public static Task<object?> AskAsync(this StoreServers servers, string sql, CancellationToken cancellationToken) =>
        servers.UseAsync(
            async (primary, token) =>
            {
                await using var command = primary.CreateCommand(sql);
                return await command.ExecuteScalarAsync(token);
            },
            cancellationToken);

    /// <summary>The primary of a database that has one server.</summary>
    public static NpgsqlDataSource Server(this EventStoreDatabase database) =>
        database.Servers.UseAsync((primary, _) => Task.FromResult(primary), CancellationToken.None).Result;
}
