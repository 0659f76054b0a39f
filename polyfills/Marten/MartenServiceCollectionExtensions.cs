using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Marten;

public static class MartenServiceCollectionExtensions
{
    public static MartenConfigurationExpression AddMarten(
        this IServiceCollection services,
        Action<StoreOptions> configure)
        => services.AddMarten(_ =>
        {
            var options = new StoreOptions();
            configure(options);
            return options;
        });

    public static MartenConfigurationExpression AddMarten(
        this IServiceCollection services,
        Func<IServiceProvider, StoreOptions> optionSource)
    {
        var expression = new MartenConfigurationExpression(services);
        services.AddSingleton<IDocumentStore>(provider =>
        {
            var options = optionSource(provider);
            if (expression.FromDataSource && !options.HasConnection)
            {
                options.Connection(expression.ServiceKey is null
                    ? provider.GetRequiredService<NpgsqlDataSource>()
                    : provider.GetRequiredKeyedService<NpgsqlDataSource>(expression.ServiceKey));
            }

            return new DocumentStore(options, provider.GetService<ILoggerFactory>());
        });
        services.AddScoped(provider => provider.GetRequiredService<IDocumentStore>().LightweightSession());
        services.AddScoped(provider => provider.GetRequiredService<IDocumentStore>().QuerySession());
        return expression;
    }
}

public class MartenConfigurationExpression
{
    internal MartenConfigurationExpression(IServiceCollection services)
    {
        Services = services;
    }

    public IServiceCollection Services { get; }

    internal bool FromDataSource { get; private set; }

    internal object? ServiceKey { get; private set; }

    /// <summary>Without effect here: there are no sessions of another kind.</summary>
    public MartenConfigurationExpression UseLightweightSessions() => this;

    public MartenConfigurationExpression UseNpgsqlDataSource(object? serviceKey = null)
    {
        FromDataSource = true;
        ServiceKey = serviceKey;
        return this;
    }

    public MartenConfigurationExpression ApplyAllDatabaseChangesOnStartup()
    {
        Services.AddHostedService<SchemaActivator>();
        return this;
    }

    private sealed class SchemaActivator(IDocumentStore store) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken)
            => store.Storage.ApplyAllConfiguredChangesToDatabaseAsync();

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
