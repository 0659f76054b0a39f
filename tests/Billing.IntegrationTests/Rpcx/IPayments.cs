using Billing.Rpc.Rpcx;
using Billing.V1;

namespace Billing.IntegrationTests.Rpcx;

[RpcxService("till")]
public interface IPayments
{
    [RpcxMethod("p")]
    Task<MakePaymentResponse> PayAsync(MakePaymentRequest request);

    [RpcxMethod("b")]
    Task<CheckBalanceResponse> CheckAsync(CheckBalanceRequest request);
}

/// <summary>A client's definition of the payments service with a method that the server does not publish, and with the
/// wrong type of reply.</summary>
[RpcxService("till")]
public interface IOtherPayments
{
    [RpcxMethod("p")]
    Task<StatementEntry> PayAsync(MakePaymentRequest request);

    [RpcxMethod("refund")]
    Task<MakePaymentResponse> RefundAsync(MakePaymentRequest request);
}
