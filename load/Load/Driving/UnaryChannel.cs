using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.Load.Driving;

/// <summary>A gRPC call for each request, all on one connection.</summary>
internal sealed class UnaryChannel : IRequestChannel
{
    private readonly GrpcChannel _channel;
    private readonly V1.Billing.BillingClient _billing;
    private readonly TimeSpan _deadline;
    private readonly TimeProvider _time;

    public UnaryChannel(string address, TimeSpan deadline, TimeProvider time)
    {
        _channel = GrpcConnection.Open(address);
        _billing = new V1.Billing.BillingClient(_channel);
        _deadline = deadline;
        _time = time;
    }

    public async Task<RequestOutcome> PayAsync(MakePaymentRequest request)
    {
        try
        {
            var answer = await _billing.MakePaymentAsync(request, deadline: Deadline());
            return RequestOutcome.Answered(answer.Outcome == PaymentOutcome.Declined);
        }
        catch (RpcException e)
        {
            return RequestOutcome.Failed(e.StatusCode.ToString());
        }
    }

    public async Task<RequestOutcome> CheckAsync(CheckBalanceRequest request)
    {
        try
        {
            await _billing.CheckBalanceAsync(request, deadline: Deadline());
            return RequestOutcome.Answered();
        }
        catch (RpcException e)
        {
            return RequestOutcome.Failed(e.StatusCode.ToString());
        }
    }

    public ValueTask DisposeAsync()
    {
        _channel.Dispose();
        return ValueTask.CompletedTask;
    }

    private DateTime Deadline() => (_time.GetUtcNow() + _deadline).UtcDateTime;
}

/// <summary>One HTTP/2 connection to a proxy.</summary>
internal static class GrpcConnection
{
    public static GrpcChannel Open(string address) => GrpcChannel.ForAddress(address, new GrpcChannelOptions
    {
        HttpHandler = new SocketsHttpHandler { EnableMultipleHttp2Connections = false },
        DisposeHttpClient = true,
    });
}
