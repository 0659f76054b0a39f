using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Billing.Webhooks;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>A database that a cloud manages: its master owns it and may create roles, and is no superuser.</summary>
public sealed class ManagedDatabase(EventStoreFixture store) : IClassFixture<EventStoreFixture>
{
    private const string Password = "of-the-test";

    private static readonly string Scripts = Path.Combine(Repository.Root, "deploy/bootstrap/postgres");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Its_master_creates_the_roles_that_create_tables_store_payments_and_keep_events()
    {
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var postgres = await LocalPostgres.StartNewAsync(folder, ports, cancellationToken: Token);
        await ExecuteAsync(
            postgres.ConnectionString,
            $"create role master login createrole createdb password '{Password}'; "
                + "alter database billing owner to master");
        string As(string role) => new NpgsqlConnectionStringBuilder(
            postgres.ConnectionString)
        { Username = role, Password = Password }.ConnectionString;

        await RunAsync("master", "roles.sql");
        await RunAsync("master", "roles.sql");
        await ExecuteAsync(
            As("master"),
            $"alter role billing_owner password '{Password}'; alter role billing_backend password '{Password}'; "
                + $"alter role billing_webhooks password '{Password}'");
        await store.NewBackend(As("billing_owner")).EnsureEventStoreAsync(Token);
        await RunAsync("billing_owner", "grants.sql");
        var backend = store.NewBackend(As("billing_backend"));
        await backend.EnsureEventStoreAsync(Token);
        var account = await EventStoreFixture.AppendAsync(
            backend.Database().Store, "visa/a", EventStoreFixture.Opened, EventStoreFixture.Facts(3));

        await using var webhooks = new WebhookStore(
            Options.Create(new WebhookOptions { ConnectionString = As("billing_webhooks") }));
        await webhooks.AddAsync([new PendingEvent("shop", "visa/a", new PendingId(0, 1, Guid.NewGuid()), "{}")], Token);

        Assert.Equal(3, account.Version);
        Assert.Equal(1, Assert.Single(await webhooks.StatesAsync(Token)).Pending);
        Assert.Equal(
            PostgresErrorCodes.InsufficientPrivilege,
            (await Assert.ThrowsAsync<PostgresException>(
                () => ExecuteAsync(As("billing_webhooks"), "select from billing.mt_events"))).SqlState);
        Assert.Equal(
            PostgresErrorCodes.InsufficientPrivilege,
            (await Assert.ThrowsAsync<PostgresException>(
                () => ExecuteAsync(As("billing_webhooks"), "create schema other"))).SqlState);
        Assert.Equal(
            PostgresErrorCodes.InsufficientPrivilege,
            (await Assert.ThrowsAsync<PostgresException>(
                () => ExecuteAsync(As("billing_backend"), "select from webhooks.pending"))).SqlState);

        async Task RunAsync(string role, string script) =>
            await new Tool(Path.Combine(PostgresPrograms.FindFolder(), "psql"))
            {
                Environment = new Dictionary<string, string> { ["PGPASSWORD"] = Password },
            }.RunAsync(
                [
                    "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", $"{postgres.Port}", "-U", role, "-d",
                    "billing", "-f", Path.Combine(Scripts, script),
                ],
                Token);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_backend_uses_the_former_password_until_the_database_has_the_new_one_and_then_that(
        bool areServersSeveral)
    {
        var role = "changing_" + areServersSeveral;
        await store.ExecuteAsync($"create role {role} superuser login password 'of-before'");
        var connection = new NpgsqlConnectionStringBuilder(
            store.Postgres.ConnectionString)
        { Username = role.ToLowerInvariant(), Password = "of-now" };
        if (areServersSeveral)
        {
            connection.Host = $"127.0.0.1:1,127.0.0.1:{store.Postgres.Port}";
        }
        var backend = store.NewBackend(connection.ConnectionString, ("FormerPassword", "of-before"));
        await backend.EnsureEventStoreAsync(Token);
        var account = await EventStoreFixture.AppendAsync(
            backend.Database().Store, "visa/" + StackFixture.NewAccount(),
            EventStoreFixture.Opened, EventStoreFixture.Facts(3));

        await store.ExecuteAsync(
            $"alter role {role} password 'of-now'; select pg_terminate_backend(pid) from pg_stat_activity where "
            + $"usename = lower('{role}')");
        await backend.GetRequiredService<EventStoreRetry>().Limited((_, _) => { })
            .ExecuteAsync(backend.Database().Store.HeldShardsAsync, Token);
        var other = store.NewBackend(connection.ConnectionString, ("FormerPassword", "of-before"));
        await other.EnsureEventStoreAsync(Token);

        Assert.Equal(3, account.Version);
    }

    [Fact]
    public async Task A_wrong_password_is_refused_at_start_by_an_error_that_names_the_setting()
    {
        var connection = new NpgsqlConnectionStringBuilder(store.Postgres.ConnectionString) { Password = "wrong" };

        var refused = await Assert.ThrowsAsync<Hosting.StartupException>(
            () => store.NewBackend(connection.ConnectionString, ("FormerPassword", "wrong-too"))
                .EnsureEventStoreAsync(Token));

        Assert.Contains("Billing:EventStore:ConnectionString", refused.Message, StringComparison.Ordinal);
        Assert.Contains("password authentication failed", refused.Message, StringComparison.Ordinal);
    }

    private static async Task ExecuteAsync(string database, string sql)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var command = source.CreateCommand(sql);
        await command.ExecuteNonQueryAsync(Token);
    }
}
