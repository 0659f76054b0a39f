using System.Net;
using Billing.Hosting;
using Billing.Proxy;
using Billing.Rpc.Rpcx;
using Billing.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.Measuring.Experiments.Echo;

/// <summary>Serves the echo over one protocol, in a process of its own.</summary>
internal static class EchoServer
{
    /// <summary>The line that the server writes when it is ready for calls.</summary>
    public const string ReadyLine = "Ready.";

    /// <summary>RPCX calls are answered on the thread that reads their connection.</summary>
    public const string InlineDispatch = "inline";

    /// <summary>RPCX calls are answered on the thread pool.</summary>
    public const string PoolDispatch = "pool";

    /// <summary>Serves calls until it is cancelled.</summary>
    public static async Task<int> RunAsync(
        string protocol, int port, string dispatch, CancellationToken cancellationToken)
    {
        await using var server = protocol switch
        {
            Protocols.Rpcx =>
                await StartRpcxAsync(port, dispatch == PoolDispatch ? RpcxDispatch.ThreadPool : RpcxDispatch.Inline),
            Protocols.Grpc => await StartGrpcAsync(port),
            _ => await StartRestAsync(port),
        };
        Console.WriteLine(ReadyLine);
        await Task.Delay(Timeout.InfiniteTimeSpan, TimeProvider.System, cancellationToken)
            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return 0;
    }

    private static async Task<IAsyncDisposable> StartRpcxAsync(int port, RpcxDispatch dispatch)
    {
        var server = new RpcxServer(
            new IPEndPoint(IPAddress.Loopback, port), TimeProvider.System, NullLogger<RpcxServer>.Instance);
        server.Publish<IEchoService>(new RpcxEcho(), dispatch);
        await server.StartAsync(CancellationToken.None);
        return server;
    }

    private static async Task<IAsyncDisposable> StartGrpcAsync(int port)
    {
        var builder = Kestrel(port, HttpProtocols.Http2);
        builder.Services.AddGrpc();
        var app = builder.Build();
        app.MapGrpcService<GrpcEcho>();
        await app.StartAsync();
        return app;
    }

    private static async Task<IAsyncDisposable> StartRestAsync(int port)
    {
        var app = Kestrel(port, HttpProtocols.Http1).Build();
        // The cheapest form of an endpoint: no model binding, no result objects, generated serialisation code.
        app.MapPost("/payments", async context =>
        {
            var request = await context.Request.ReadFromJsonAsync(
                EchoJson.Default.EchoJsonRequest, context.RequestAborted);
            var reply = new EchoJsonReply(request!.TransactionId, "ACCEPTED", request.Amount, request.Amount.Units);
            await context.Response.WriteAsJsonAsync(
                reply, EchoJson.Default.EchoJsonReply, cancellationToken: context.RequestAborted);
        });
        await app.StartAsync();
        return app;
    }

    private static WebApplicationBuilder Kestrel(int port, HttpProtocols protocols)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.ServeManyCalls(new ProxyOptions().StreamsPerConnection);
            kestrel.ListenLocalhost(port, listen => listen.Protocols = protocols);
        });
        return builder;
    }

    private sealed class RpcxEcho : IEchoService
    {
        public Task<MakePaymentResponse> PayAsync(MakePaymentRequest request) =>
            Task.FromResult(EchoMessages.Answer(request));
    }

    /// <summary>The platform's own gRPC service with one of its methods implemented.</summary>
    private sealed class GrpcEcho : BillingService.BillingServiceBase
    {
        public override Task<MakePaymentResponse> MakePayment(MakePaymentRequest request, ServerCallContext context) =>
            Task.FromResult(EchoMessages.Answer(request));
    }
}
