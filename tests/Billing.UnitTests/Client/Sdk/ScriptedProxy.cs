using System.Collections.Concurrent;
using Billing.Contracts;
using Billing.Messaging.Hosting;
using Billing.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Client.Sdk;

/// <summary>A proxy on a port of its own that fails as it is told to, and otherwise accepts.</summary>
internal sealed class ScriptedProxy : V1.Billing.BillingBase, IAsyncDisposable
{
    private readonly ConcurrentQueue<MakePaymentRequest> _requests = new();
    private readonly ConcurrentQueue<RpcException> _failures = new();
    private WebApplication _app = null!;

    /// <summary>Where it listens.</summary>
    public string Address => _app.Urls.First();

    /// <summary>What it was asked, in order.</summary>
    public IReadOnlyCollection<MakePaymentRequest> Requests => _requests;

    /// <summary>Called with each request before it is answered.</summary>
    public Action<MakePaymentRequest> Asked { get; set; } = _ => { };

    public static async Task<ScriptedProxy> StartAsync(params RpcException[] failures)
    {
        var proxy = new ScriptedProxy();
        Array.ForEach(failures, proxy._failures.Enqueue);
        var builder = Service.CreateBuilder([]);
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.ConfigureEndpointDefaults(e => e.Protocols = HttpProtocols.Http2));
        builder.Services.AddGrpc();
        builder.Services.AddSingleton(proxy);
        proxy._app = builder.Build();
        proxy._app.MapGrpcService<ScriptedProxy>();
        await proxy._app.StartAsync();
        return proxy;
    }

    /// <summary>A failure as proxies have them.</summary>
    public static RpcException Failure(StatusCode status, string reason = "", string? pushback = null)
    {
        var trailers = new Metadata { { Trailers.Reason, reason } };
        if (pushback is not null)
        {
            trailers.Add(Trailers.RetryPushback, pushback);
        }
        return new RpcException(new Status(status, "as it was told to"), trailers);
    }

    /// <inheritdoc/>
    public override Task<MakePaymentResponse> MakePayment(MakePaymentRequest request, ServerCallContext context)
    {
        _requests.Enqueue(request);
        Asked(request);
        return _failures.TryDequeue(out var failure)
            ? throw failure
            : Task.FromResult(new MakePaymentResponse { TransactionId = request.TransactionId, Outcome = PaymentOutcome.Accepted, Version = 1 });
    }

    public ValueTask DisposeAsync() => _app.DisposeAsync();
}
