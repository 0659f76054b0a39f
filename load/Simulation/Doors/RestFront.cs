using System.Diagnostics;
using System.Reflection;
using System.Runtime.CompilerServices;
using Billing.Proxy.Rest;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.Simulation.Doors;

/// <summary>The proxies' REST front: routing, the middleware that turns failures into answers, and the routes
/// themselves, as a server would call them. It is built once, since that takes longer than a run, and keeps nothing:
/// whichever proxy a request goes to serves it.</summary>
internal static class RestFront
{
    private static readonly Lazy<(RequestDelegate Serve, IServiceProvider Services)> Built = new(Build);

    /// <summary>The services that routes need besides those of their proxy.</summary>
    public static IServiceProvider Services => Built.Value.Services;

    /// <summary>Serves a request to a proxy. Its answer is in the response.</summary>
    public static async Task ServeAsync(ProxyDoors proxy, HttpContext http)
    {
        http.Features.Set(proxy);
        await Built.Value.Serve(http);
        await http.Response.BodyWriter.FlushAsync();
    }

    private static (RequestDelegate Serve, IServiceProvider Services) Build()
    {
        var listener = new DiagnosticListener("Billing.Simulation");
        var services = new ServiceCollection().AddLogging().AddMetrics().AddRouting().AddSingleton(listener)
            .AddSingleton<DiagnosticSource>(listener)
            // As in a proxy without authentication.
            .Configure<RouteOptions>(routes => routes.SuppressCheckForUnhandledSecurityMetadata = true)
            .BuildServiceProvider();
        var app = new ApplicationBuilder(services);
        // Routing compiles its tables on another thread, whose work is none of the process that is simulated.
        app.Use((http, next) =>
        {
            var process = SynchronizationContext.Current;
            SynchronizationContext.SetSynchronizationContext(null);
            try
            {
                http.Features.Set(process);
                return next(http);
            }
            finally
            {
                SynchronizationContext.SetSynchronizationContext(process);
            }
        });
        app.UseRouting();
        app.Use((http, next) =>
        {
            SynchronizationContext.SetSynchronizationContext(http.Features.Get<SynchronizationContext>());
            return next(http);
        });
        app.Use(RestServices.AnswerFailuresAsync);
        app.UseEndpoints(routes => routes.DataSources.Add(new DefaultEndpointDataSource(Endpoints(services))));
        var serve = app.Build();
        // The first request creates what all others share, which must not happen in a run.
        serve(new DefaultHttpContext { RequestServices = services }).GetAwaiter().GetResult();
        return (serve, services);
    }

    // Each route of the front, with the same address and method of the class, which is called on the
    // proxy's own instance.
    private static List<RouteEndpoint> Endpoints(IServiceProvider services)
    {
        var mapped = new Mapped(services);
        foreach (var route in RestRoutes.All)
        {
            ((IRestRoute)RuntimeHelpers.GetUninitializedObject(route)).Map(mapped);
        }
        return
        [
            .. mapped.DataSources.SelectMany(source => source.Endpoints).Cast<RouteEndpoint>()
                .Select(endpoint => OfProxies(endpoint, services)),
        ];
    }

    private static RouteEndpoint OfProxies(RouteEndpoint endpoint, IServiceProvider services)
    {
        var method = endpoint.Metadata.OfType<MethodInfo>().Single();
        var serve = RequestDelegateFactory.Create(
            method, http => http.Features.Get<ProxyDoors>()!.Route(method.DeclaringType!),
            new RequestDelegateFactoryOptions
            {
                ServiceProvider = services,
                RouteParameterNames = endpoint.RoutePattern.Parameters.Select(p => p.Name),
            });
        return new RouteEndpoint(
            serve.RequestDelegate, endpoint.RoutePattern, endpoint.Order, endpoint.Metadata, endpoint.DisplayName);
    }

    private sealed class Mapped(IServiceProvider services) : IEndpointRouteBuilder
    {
        public IServiceProvider ServiceProvider => services;

        public ICollection<EndpointDataSource> DataSources { get; } = [];

        public IApplicationBuilder CreateApplicationBuilder() => new ApplicationBuilder(services);
    }
}
