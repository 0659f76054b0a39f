using Billing.Rpc.Rpcx;
using Billing.V1;

namespace Billing.IntegrationTests.Rpcx;

[RpcxService("till")]
public interface IPayments
{
    [RpcxMethod("p")]
    Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options);

    [RpcxMethod("b")]
    Task<CheckBalanceResponse> CheckAsync(CheckBalanceRequest request, RpcxCallOptions options);
}

/// <summary>The payments service with a method that the server does not publish.</summary>
[RpcxService("till")]
public interface IPaymentsWithRefunds
{
    [RpcxMethod("p")]
    Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options);

    [RpcxMethod("refund")]
    Task<MakePaymentResponse> RefundAsync(MakePaymentRequest request, RpcxCallOptions options);
}

/// <summary>A client's definition of the payments service with the wrong type of reply.</summary>
[RpcxService("till")]
public interface IPaymentsWithWrongReply
{
    [RpcxMethod("p")]
    Task<StatementEntry> PayAsync(MakePaymentRequest request, RpcxCallOptions options);
}
