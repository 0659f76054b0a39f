using Billing.Hosting;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Billing.Proxy;
using Billing.Proxy.Hosting;
using Billing.Proxy.Limits;
using Billing.Proxy.Memory;
using Grpc.AspNetCore.Server;
using Grpc.Core;
using Grpc.Core.Interceptors;
using Grpc.Net.Client;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Proxy;

/// <summary>A real proxy on a free port, with a fake backend.</summary>
internal sealed class ProxyHost : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly GrpcChannel _channel;

    private ProxyHost(WebApplication app)
    {
        _app = app;
        Address = app.Urls.First();
        Rest = new Uri(app.Urls.Last());
        _channel = GrpcChannel.ForAddress(Address);
    }

    public string Address { get; }

    /// <summary>The address of its REST interface.</summary>
    public Uri Rest { get; }

    /// <summary>A plain gRPC client.</summary>
    public V1.BillingService.BillingServiceClient Client => new(_channel);

    /// <summary>A plain gRPC client of the operators' API.</summary>
    public V1.BillingAdminService.BillingAdminServiceClient Admin => new(_channel);

    /// <summary>Calls any method.</summary>
    public CallInvoker Invoker => _channel.CreateCallInvoker();

    public IServiceProvider Services => _app.Services;

    /// <summary>What its callers hold of its memory.</summary>
    public ProxyMemory Memory => _app.Services.GetRequiredService<ProxyMemory>();

    public Admission Admission => _app.Services.GetRequiredService<Admission>();

    /// <summary>The routes that it serves.</summary>
    public IEnumerable<RouteEndpoint> Endpoints =>
        _app.Services.GetServices<EndpointDataSource>().SelectMany(source => source.Endpoints).OfType<RouteEndpoint>()
            .Distinct();

    public static async Task<ProxyHost> StartAsync(
        IRequestTransport backend, Action<ProxyOptions>? configure = null, bool withRest = false,
        TimeProvider? time = null, IReadOnlyDictionary<string, string?>? settings = null,
        Interceptor? interceptor = null, ILoggerProvider? logs = null, MemoryBudget? memory = null)
    {
        using var ports = new FreePorts();
        var builder = Service.CreateBuilder([]);
        builder.Logging.ClearProviders();
        if (logs is not null)
        {
            builder.Logging.AddProvider(logs);
        }
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        // Each proxy of this process would keep the measurements of all others.
        builder.Configuration["Billing:Telemetry:Prometheus"] = "false";
        builder.Configuration["Billing:Rest:Url"] = withRest ? $"http://127.0.0.1:{ports.Take()}" : "";
        foreach (var (name, value) in settings ?? new Dictionary<string, string?>())
        {
            builder.Configuration[name] = value;
        }
        builder.Services.AddSingleton(backend);
        builder.Services.AddSingleton<IStartupFilter, RunningRequests>();
        if (time is not null)
        {
            builder.Services.AddSingleton(time);
        }
        if (memory is not null)
        {
            builder.Services.AddSingleton(memory);
        }
        builder.AddProxy();
        builder.Services.Configure(configure ?? (_ => { }));
        if (interceptor is not null)
        {
            builder.Services.AddSingleton(interceptor.GetType(), interceptor);
            builder.Services.Configure<GrpcServiceOptions>(grpc => grpc.Interceptors.Add(interceptor.GetType()));
        }
        var app = builder.Build();
        app.MapProxy();
        await app.StartAsync();
        return new ProxyHost(app);
    }

    /// <summary>Waits until it has begun to stop.</summary>
    public Task WaitForClosingAsync()
    {
        var closing = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Admission.Closing.Register(closing.SetResult);
        return closing.Task;
    }

    /// <summary>Waits until no call is in flight.</summary>
    public Task WaitUntilIdleAsync() => Poll.UntilAsync(() => Admission.InFlight <= 0);

    /// <summary>Waits until this many places are taken.</summary>
    public Task WaitUntilTakenAsync(int places) => Poll.UntilAsync(() => Admission.InFlight == places);

    /// <summary>Waits until the proxy runs no request: it has also noticed the callers that have gone.</summary>
    public Task WaitUntilNoRequestRunsAsync()
    {
        var requests = _app.Services.GetServices<IStartupFilter>().OfType<RunningRequests>().Single();
        return Poll.UntilAsync(() => requests.Count == 0);
    }

    /// <summary>Stops it as SIGTERM does.</summary>
    public Task StopAsync() => _app.StopAsync();

    public async ValueTask DisposeAsync()
    {
        _channel.Dispose();
        await _app.DisposeAsync();
    }

    private sealed class RunningRequests : IStartupFilter
    {
        private int _count;

        public int Count => Volatile.Read(ref _count);

        public Action<IApplicationBuilder> Configure(Action<IApplicationBuilder> next) => app =>
        {
            app.Use(RunAsync);
            next(app);
        };

        private async Task RunAsync(HttpContext http, RequestDelegate next)
        {
            Interlocked.Increment(ref _count);
            try
            {
                await next(http);
            }
            finally
            {
                Interlocked.Decrement(ref _count);
            }
        }
    }
}
