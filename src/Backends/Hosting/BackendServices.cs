using Billing.Backends.Balances;
using Billing.Backends.CardNetwork;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Payments;
using Billing.Backends.Telemetry;
using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;

namespace Billing.Backends.Hosting;

/// <summary>Registers the services of a backend.</summary>
public static class BackendServices
{
    /// <summary>Adds what every backend needs, whatever its transport: the event store, the card network
    /// and the settings.</summary>
    public static IServiceCollection AddBackendCore(this IServiceCollection services, IConfiguration configuration)
    {
        var store = services.AddSettings<EventStoreOptions>(
            configuration, EventStoreOptions.Section, options => options.ValidationErrors());
        services.AddSettings<BackendOptions>(
            configuration, BackendOptions.Section, options => options.ValidationErrors());
        services.TryAddSingleton(_ => MemoryBudget.OfProcess());
        services.AddOptions<BackendOptions>().PostConfigure<MemoryBudget>(
            (options, budget) => BackendMemory.Derive(options, budget, store.DatabasesCount));
        services.AddSettings<JitterOptions>(configuration, JitterOptions.Section);
        services.AddServiceTime();
        return services
            .AddSingleton<EventStoreDatabases>()
            .AddSingleton(provider => provider.GetRequiredService<EventStoreDatabases>().Map)
            .AddSingleton(provider => new EventStoreRetry(provider.GetRequiredService<TimeProvider>()))
            .AddSingleton<SimulatedCardNetwork>()
            .AddSingleton(NewView)
            .AddSingleton<BalanceReadModel>()
            .AddHostedService<SchemaAtStart>()
            .AddHostedService<StoreClocks>();
    }

    /// <summary>Adds a backend that serves the topics of its role.</summary>
    public static IServiceCollection AddKafkaBackend(this IServiceCollection services, BackendOptions backend)
    {
        services.AddSingleton<IValidateOptions<BackendOptions>>(new ProblemValidation<BackendOptions>(
            options =>
                options.Role is null ? ["Billing:Backend:Role is missing; it must be Payments or Balances."] : []));
        services.AddSingleton(
            provider => BackendMemory.Commands(provider.GetRequiredService<MemoryBudget>(), backend.Role));
        services.AddHostedService<MemoryAtStart>();
        services.AddSingleton<KafkaAnswerPublisher>().AddAs<IAnswerPublisher, KafkaAnswerPublisher>()
            .AddAs<IReadyPart, KafkaAnswerPublisher>();
        if (backend.Role == BackendRole.Balances)
        {
            services.AddHosted<BalanceReadModel>().AddAs<IReadModel, BalanceReadModel>();
            services.AddSingleton<EventFollower>().AddHosted<EventFollower>();
            services.AddSingleton(
                provider => provider.NewReadProcessor(provider.GetRequiredService<IAnswerPublisher>()));
            services.AddHosted<ReadProcessor>().AddAs<ICommandHandler, ReadProcessor>();
            services.AddSubscription(Topics.AllBalances, Groups.Balances, backend.InFlightMax);
        }
        else
        {
            services.AddSingleton(
                provider => provider.NewPaymentProcessor(provider.GetRequiredService<IAnswerPublisher>()));
            services.AddHosted<PaymentProcessor>().AddAs<ICommandHandler, PaymentProcessor>()
                .AddAs<IReadyPart, PaymentProcessor>();
            services.AddSingleton(provider => provider.NewExpiredHolds(provider.GetRequiredService<IAnswerPublisher>()))
                .AddHosted<ExpiredHolds>();
            services.AddSubscription(Topics.AllPayments, Groups.Payments, backend.InFlightMax);
        }
        // Registered last, so that it stops first: no new commands are taken while those in flight are finished.
        return services.AddSingleton<CommandConsumer>().AddAs<IReadyPart, CommandConsumer>()
            .AddHosted<CommandConsumer>();
    }

    /// <summary>Creates the tables of the event store that are missing.</summary>
    /// <param name="services">The services of <see cref="AddBackendCore"/>.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="StartupException">They could not be created.</exception>
    public static Task EnsureEventStoreAsync(this IServiceProvider services, CancellationToken cancellationToken) =>
        services.GetRequiredService<EventStoreDatabases>().EnsureAsync(cancellationToken);

    /// <summary>The database that holds an account, after <see cref="EnsureEventStoreAsync"/>.</summary>
    /// <param name="services">The services of <see cref="AddBackendCore"/>.</param>
    /// <param name="streamId">The account's stream.</param>
    /// <exception cref="ArgumentOutOfRangeException">No database that answers holds it.</exception>
    public static IAccountStore DatabaseOf(this IServiceProvider services, string streamId)
    {
        var map = services.GetRequiredService<ShardMap>();
        return map.Databases[map.Find(Shard.Of(streamId))];
    }

    /// <summary>Fills the view of the balances from the event store, as a balance backend
    /// does after its start.</summary>
    /// <param name="services">The services of <see cref="AddBackendCore"/>.</param>
    /// <param name="report">Receives the number of accounts in the view after each page.</param>
    /// <param name="cancellationToken">Ends it at once.</param>
    /// <returns>The number of accounts in the view.</returns>
    public static Task<int> FillBalancesAsync(
        this IServiceProvider services, Action<int> report, CancellationToken cancellationToken) =>
        services.GetRequiredService<BalanceReadModel>().FillAsync(report, cancellationToken);

    /// <summary>The write side, which publishes its answers with a publisher of its own.</summary>
    internal static PaymentProcessor NewPaymentProcessor(this IServiceProvider provider, IAnswerPublisher publisher) =>
        provider.New<PaymentProcessor>(provider.New<Replier>(publisher));

    /// <summary>What releases holds whose time is over.</summary>
    internal static ExpiredHolds NewExpiredHolds(this IServiceProvider provider, IAnswerPublisher publisher) =>
        provider.New<ExpiredHolds>(
            provider.Databases().Select(database => (IAccountStore)database.Store).ToArray(), publisher);

    /// <summary>The read side, with every kind of request that reads.</summary>
    internal static ReadProcessor NewReadProcessor(this IServiceProvider provider, IAnswerPublisher publisher)
    {
        var opened = provider.GetRequiredService<IOptions<BackendOptions>>().Value.OpenedAccount();
        ReadDatabase[] databases = [.. provider.Databases().Select(database =>
        {
            var reads = new PrimaryReads(database.Servers, database.Store, database.Settings.Schema, opened);
            return new ReadDatabase(database.Store, reads, reads);
        })];
        return provider.New<ReadProcessor>(databases, provider.New<Replier>(publisher));
    }

    private static BalanceView NewView(IServiceProvider provider)
    {
        var options = provider.GetRequiredService<IOptions<BackendOptions>>().Value;
        return new BalanceView(
            options.OpenedAccount(), options.ViewAccountsMax, provider.GetRequiredService<TimeProvider>());
    }

    private static void AddSubscription(
        this IServiceCollection services, IReadOnlyList<string> topics, string group, int inFlightMax) =>
        services.AddSingleton(provider => new CommandSubscription(
            topics, group, inFlightMax, provider.GetRequiredService<CommandMemory>()));

    private static T New<T>(this IServiceProvider provider, params object[] given) =>
        ActivatorUtilities.CreateInstance<T>(provider, given);

    private static IServiceCollection AddHosted<T>(this IServiceCollection services)
        where T : class, IHostedService => services.AddHostedService(provider => provider.GetRequiredService<T>());

    private static IServiceCollection AddAs<TService, T>(this IServiceCollection services)
        where TService : class
        where T : class, TService => services.AddSingleton<TService>(provider => provider.GetRequiredService<T>());

    private static IReadOnlyList<EventStoreDatabase> Databases(this IServiceProvider provider) =>
        provider.GetRequiredService<EventStoreDatabases>().All;

    private sealed class SchemaAtStart(EventStoreDatabases databases) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken)
        {
            BackendMetrics.Begin(databases.All.Select(database => database.Name));
            return databases.EnsureAsync(cancellationToken);
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
