using JasperFx.Events;
using Marten;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Billing.ContractTests.MartenApi;

public sealed class Registration(PostgresFixture postgres) : StoreTest(postgres)
{
    [Fact]
    public async Task A_service_container_provides_one_store_on_the_given_data_source()
    {
        await using var source = NpgsqlDataSource.Create(ConnectionString);
        MartenServiceCollectionExtensions.MartenConfigurationExpression added = new ServiceCollection().AddMarten(_ =>
        {
            var options = new StoreOptions();
            options.Connection(source);
            Configure(options);
            return options;
        });
        await using var services = added.Services.BuildServiceProvider();
        await using (var session = services.GetRequiredService<IDocumentStore>().LightweightSession())
        {
            session.Events.StartStream("visa/a", new PaymentAccepted("p1", 1));
            await session.SaveChangesAsync();
        }

        Assert.Same(services.GetRequiredService<IDocumentStore>(), services.GetRequiredService<IDocumentStore>());
        Assert.Single(await FetchAsync("visa/a"));
    }

    [Fact]
    public async Task A_store_created_by_its_constructor_writes_json_as_configured()
    {
        var options = new StoreOptions();
        options.Connection(ConnectionString);
        Configure(options);
        await using var store = new DocumentStore(options);

        Assert.Equal(Schema, store.Options.DatabaseSchemaName);
        Assert.Equal(
            """{"Payment":"p1","Reason":1}""",
            store.Options.Serializer().ToJson(new PaymentDeclined("p1", Reason.Currency)));
    }

    private void Configure(StoreOptions options)
    {
        options.DatabaseSchemaName = Schema;
        options.DisableNpgsqlLogging = true;
        options.UseSystemTextJsonForSerialization();
        options.Events.StreamIdentity = StreamIdentity.AsString;
        options.Events.MapEventType<PaymentAccepted>("payment_accepted");
    }
}
