using System.Net;
using System.Net.Sockets;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Net.Client;

namespace Billing.UnitTests.Proxy.Limits;

/// <summary>An ordinary caller at an address of its own, which notices nothing of the others.</summary>
internal sealed class OtherCaller : IDisposable
{
    private readonly GrpcChannel _channel;

    public OtherCaller(ProxyHost proxy) => _channel = GrpcChannel.ForAddress(proxy.Address, new GrpcChannelOptions
    {
        HttpHandler = new SocketsHttpHandler
        {
            ConnectCallback = async (context, _) => new NetworkStream(
                await RawCaller.ConnectAsync(context.DnsEndPoint.Port, IPAddress.Parse("127.0.0.2")), ownsSocket: true),
        },
        DisposeHttpClient = true,
    });

    public BillingService.BillingServiceClient Client => new(_channel);

    /// <summary>Fails unless a payment is served.</summary>
    public async Task PaysAsync() =>
        Assert.Equal(PaymentOutcome.Accepted, (await Client.MakePaymentAsync(Samples.Payment())).Outcome);

    public void Dispose() => _channel.Dispose();
}
