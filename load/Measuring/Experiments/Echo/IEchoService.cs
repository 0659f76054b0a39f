using Billing.Rpc.Rpcx;
using Billing.V1;

namespace Billing.Measuring.Experiments.Echo;

/// <summary>The service of all three servers: it answers a payment without doing any work for it.</summary>
[RpcxService("echo")]
internal interface IEchoService
{
    [RpcxMethod("pay")]
    Task<MakePaymentResponse> PayAsync(MakePaymentRequest request);
}
