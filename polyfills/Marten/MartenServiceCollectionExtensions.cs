using Microsoft.Extensions.DependencyInjection;

namespace Marten;

public static class MartenServiceCollectionExtensions
{
    public static MartenConfigurationExpression AddMarten(
        this IServiceCollection services,
        Func<IServiceProvider, StoreOptions> optionSource)
    {
        services.AddSingleton<IDocumentStore>(provider => new DocumentStore(optionSource(provider)));
        services.AddScoped(provider => provider.GetRequiredService<IDocumentStore>().LightweightSession());
        services.AddScoped(provider => provider.GetRequiredService<IDocumentStore>().QuerySession());
        return new MartenConfigurationExpression(services);
    }

    public class MartenConfigurationExpression
    {
        internal MartenConfigurationExpression(IServiceCollection services)
        {
            Services = services;
        }

        public IServiceCollection Services { get; }
    }
}
