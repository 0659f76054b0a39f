using Billing.Backends.Balances;
using Billing.Backends.CardNetwork;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Payments;
using Billing.Backends.Telemetry;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using JasperFx;
using Marten;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.Hosting;

/// <summary>Registers the services of a backend.</summary>
public static class BackendServices
{
    /// <summary>Adds what every backend needs, whatever its transport: the event store, the card network and the settings.
    /// </summary>
    public static IServiceCollection AddBackendCore(this IServiceCollection services, IConfiguration configuration)
    {
        services.AddSettings<EventStoreOptions>(configuration, EventStoreOptions.Section, ConnectionStringProblems);
        services.AddSettings<BackendOptions>(configuration, BackendOptions.Section, options => options.ValidationErrors());
        services.AddSettings<JitterOptions>(configuration, JitterOptions.Section, options => options.ValidationErrors());
        services.AddServiceTime();
        services.AddSingleton(provider => NpgsqlDataSource.Create(
            provider.GetRequiredService<IOptions<EventStoreOptions>>().Value.SessionConnectionString));
        services.AddMarten(provider =>
        {
            var options = new StoreOptions();
            options.Connection(provider.GetRequiredService<NpgsqlDataSource>());
            EventTypes.Configure(options, provider.GetRequiredService<IOptions<EventStoreOptions>>().Value.Schema);
            // The tables are created at startup only: Marten must not check them again before the first append.
            options.AutoCreateSchemaObjects = AutoCreate.None;
            return options;
        });
        // Lazy: a service that only reads with SQL never creates it.
        services.AddSingleton(provider => new Lazy<IDocumentStore>(provider.GetRequiredService<IDocumentStore>));
        return services
            .AddSingleton<EventStoreSchema>()
            .AddSingleton<IAccountStore, AccountStore>()
            .AddSingleton<EventStoreRetry>()
            .AddSingleton<SimulatedCardNetwork>()
            .AddSingleton(provider => new BalanceView(
                Account.Opened(provider.GetRequiredService<IOptions<BackendOptions>>().Value.DefaultCreditLimit),
                provider.GetRequiredService<TimeProvider>()))
            .AddSingleton<IEventScan, EventScan>()
            .AddSingleton<BalanceReadModel>()
            .AddSingleton<IStatementReader, StatementReader>()
            .AddHostedService<SchemaAtStart>();
    }

    /// <summary>Adds a backend that serves the topics of its role.</summary>
    public static IServiceCollection AddKafkaBackend(this IServiceCollection services, BackendOptions backend)
    {
        services.AddSingleton<IValidateOptions<BackendOptions>>(new ProblemValidation<BackendOptions>(
            options => options.Role is null ? ["Billing:Backend:Role is missing; it must be Payments or Balances."] : []));
        services.AddSingleton<KafkaAnswerPublisher>();
        services.AddSingleton<IAnswerPublisher>(provider => provider.GetRequiredService<KafkaAnswerPublisher>());
        services.AddSingleton<Replier>();
        if (backend.Role == BackendRole.Balances)
        {
            services.AddHostedService(provider => provider.GetRequiredService<BalanceReadModel>());
            services.AddSingleton<IReadModel>(provider => provider.GetRequiredService<BalanceReadModel>());
            services.AddSingleton<EventFollower>();
            services.AddHostedService(provider => provider.GetRequiredService<EventFollower>());
            services.AddHandler<BalanceProcessor>();
            services.AddSingleton(new CommandSubscription(Topics.AllBalances, Groups.Balances, backend.InFlightMax));
        }
        else
        {
            services.AddSingleton<PaymentRecorder>();
            services.AddHandler<PaymentProcessor>();
            services.AddSingleton<IReadyPart>(provider => provider.GetRequiredService<PaymentProcessor>());
            services.AddSingleton(new CommandSubscription(Topics.AllPayments, Groups.Payments, backend.InFlightMax));
        }
        // Registered last, so that it stops first: no new commands are taken while those in flight are finished.
        services.AddSingleton<CommandConsumer>();
        services.AddSingleton<IReadyPart>(provider => provider.GetRequiredService<CommandConsumer>());
        return services.AddHostedService(provider => provider.GetRequiredService<CommandConsumer>());
    }

    private static void AddHandler<T>(this IServiceCollection services)
        where T : class, ICommandHandler, IHostedService
    {
        services.AddSingleton<T>();
        services.AddSingleton<ICommandHandler>(provider => provider.GetRequiredService<T>());
        services.AddHostedService(provider => provider.GetRequiredService<T>());
    }

    private static IEnumerable<string> ConnectionStringProblems(EventStoreOptions options)
    {
        string? problem = null;
        try
        {
            _ = new NpgsqlConnectionStringBuilder(options.ConnectionString);
        }
        catch (ArgumentException e)
        {
            problem = $"Billing:EventStore:ConnectionString is not a connection string: {e.Message}";
        }
        return problem is null ? [] : [problem];
    }

    private sealed class SchemaAtStart(EventStoreSchema schema) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken)
        {
            BackendMetrics.Begin();
            return schema.EnsureAsync(cancellationToken);
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
