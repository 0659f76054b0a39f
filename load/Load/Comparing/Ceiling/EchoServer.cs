using System.CommandLine;
using Billing.Messaging.Hosting;
using Billing.Proxy;
using Billing.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Billing.Load.Comparing.Ceiling;

/// <summary>A proxy's gRPC server without what is behind a proxy: it answers every payment at once. No call through the
/// platform can be cheaper than one to it.</summary>
internal static class EchoServer
{
    public static Command CreateCommand()
    {
        var command = new Command("serve-echo-proxy", "Answers every payment at once; the address comes from ASPNETCORE_URLS.") { Hidden = true };
        command.SetAction((_, _) => Service.RunAsync(Build));
        return command;
    }

    private static WebApplication Build()
    {
        var builder = Service.CreateBuilder([]);
        builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.ServeManyCalls(new ProxyOptions().StreamsPerConnection);
            kestrel.ConfigureEndpointDefaults(endpoint => endpoint.Protocols = HttpProtocols.Http2);
        });
        builder.Services.AddGrpc();
        var app = builder.Build();
        app.MapGrpcService<EchoService>();
        return app;
    }

    private sealed class EchoService : V1.Billing.BillingBase
    {
        public override Task<MakePaymentResponse> MakePayment(MakePaymentRequest request, ServerCallContext context) =>
            Task.FromResult(new MakePaymentResponse
            {
                TransactionId = request.TransactionId,
                Outcome = PaymentOutcome.Accepted,
                Balance = request.Amount,
                Version = 1,
            });
    }
}
