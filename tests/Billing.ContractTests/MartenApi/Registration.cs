using JasperFx.Events;
using Marten;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Billing.ContractTests.MartenApi;

public sealed class Registration(PostgresFixture postgres) : StoreTest(postgres)
{
    private readonly string _connectionString = postgres.ConnectionString;

    [Fact]
    public async Task A_host_makes_the_tables_when_it_starts_and_gives_out_sessions()
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddMarten(options =>
        {
            options.Connection(_connectionString);
            Configure(options);
        }).UseLightweightSessions().ApplyAllDatabaseChangesOnStartup();
        using var host = builder.Build();
        await host.StartAsync();

        Assert.NotEmpty(await ColumnsAsync("mt_events"));
        await using (var scope = host.Services.CreateAsyncScope())
        {
            var session = scope.ServiceProvider.GetRequiredService<IDocumentSession>();
            session.Events.StartStream("visa/a", new PaymentAccepted("p1", 1));
            await session.SaveChangesAsync();
        }

        Assert.Same(
            host.Services.GetRequiredService<IDocumentStore>(),
            host.Services.GetRequiredService<IDocumentStore>());
        Assert.Single(await FetchAsync("visa/a"));
        await host.StopAsync();
    }

    [Fact]
    public async Task A_store_uses_the_data_source_it_is_given()
    {
        await using var source = NpgsqlDataSource.Create(_connectionString);
        await using var services = new ServiceCollection().AddMarten(_ =>
        {
            var options = new StoreOptions();
            options.Connection(source);
            Configure(options);
            return options;
        }).Services.BuildServiceProvider();
        await using (var session = services.GetRequiredService<IDocumentStore>().LightweightSession())
        {
            session.Events.StartStream("visa/b", new PaymentAccepted("p1", 1));
            await session.SaveChangesAsync();
        }

        Assert.Single(await FetchAsync("visa/b"));
    }

    [Fact]
    public async Task A_store_is_made_by_its_constructor_and_tells_its_options()
    {
        var options = new StoreOptions { UpdateBatchSize = 100, CommandTimeout = 5 };
        options.Connection(_connectionString);
        Configure(options);
        await using var store = new DocumentStore(options);
        IDocumentStore known = store;

        Assert.Equal(Schema, known.Options.DatabaseSchemaName);
        Assert.Equal(Schema, store.Options.Events.DatabaseSchemaName);
        Assert.Equal("""{"Id":"p1","Answer":"yes"}""", store.Options.Serializer().ToJson(new Receipt { Id = "p1", Answer = "yes" }));
    }

    private void Configure(StoreOptions options)
    {
        options.DatabaseSchemaName = Schema;
        options.DisableNpgsqlLogging = true;
        options.UseSystemTextJsonForSerialization();
        options.Events.StreamIdentity = StreamIdentity.AsString;
        options.Events.AddEventType<PaymentAccepted>();
    }
}
