using Billing.Messaging.Rpcx;
using Billing.V1;

namespace Billing.Measuring.Comparing.Rpc;

/// <summary>What all three servers do: take a payment and answer it, with nothing behind.</summary>
[RpcxService("echo")]
internal interface IEchoService
{
    [RpcxMethod("pay")]
    Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options);
}
