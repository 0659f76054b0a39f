using Billing.Messaging.Rpcx;
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

/// <summary>A service that only the client knows.</summary>
[RpcxService("till")]
public interface IPaymentsOfTomorrow
{
    [RpcxMethod("p")]
    Task<MakePaymentResponse> PayAsync(MakePaymentRequest request, RpcxCallOptions options);

    [RpcxMethod("refund")]
    Task<MakePaymentResponse> RefundAsync(MakePaymentRequest request, RpcxCallOptions options);
}

/// <summary>A client's side of payments that takes the reply for another message.</summary>
[RpcxService("till")]
public interface IPaymentsMisread
{
    [RpcxMethod("p")]
    Task<StatementEntry> PayAsync(MakePaymentRequest request, RpcxCallOptions options);
}
