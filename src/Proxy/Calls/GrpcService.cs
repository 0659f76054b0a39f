using Billing.Messaging.Requests;
using Billing.Proxy.Limits;
using Billing.V1;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Calls;

/// <summary>The public API over gRPC.</summary>
internal sealed class GrpcService(
    RequestHandler handler, Admission admission, IOptions<ProxyOptions> options, TimeProvider time)
    : BillingService.BillingServiceBase
{
    public override async Task<MakePaymentResponse> MakePayment(
        MakePaymentRequest request, ServerCallContext context) =>
        (await handler.HandleAsync(RequestKinds.Payment, request, IncomingCall.TimedOf(context, time))).Value;

    public override async Task MakePayments(
        IAsyncStreamReader<MakePaymentRequest> requestStream, IServerStreamWriter<MakePaymentsResponse> responseStream,
        ServerCallContext context)
    {
        var call = IncomingCall.Of(context, time);
        using var places = new StreamPlaces(admission, call.Caller, options.Value.StreamWindow);
        using var end = admission.EndOf(context.GetHttpContext());
        using var responses = new DrainingWriter<MakePaymentsResponse>(responseStream, end);
        using var stream = new PaymentStream(
            handler, call, requestStream, responses, places, options.Value.StreamIdleMax, time, end);
        await stream.RunAsync();
    }

    public override async Task<AuthorisePaymentResponse> AuthorisePayment(
        AuthorisePaymentRequest request, ServerCallContext context) =>
        (await handler.HandleAsync(RequestKinds.Authorise, request, IncomingCall.Of(context, time))).Value;

    public override async Task<CapturePaymentResponse> CapturePayment(
        CapturePaymentRequest request, ServerCallContext context) =>
        (await handler.HandleAsync(RequestKinds.Capture, request, IncomingCall.Of(context, time))).Value;

    public override async Task<VoidPaymentResponse> VoidPayment(
        VoidPaymentRequest request, ServerCallContext context) =>
        (await handler.HandleAsync(RequestKinds.Void, request, IncomingCall.Of(context, time))).Value;

    public override async Task<RefundPaymentResponse> RefundPayment(
        RefundPaymentRequest request, ServerCallContext context) =>
        (await handler.HandleAsync(RequestKinds.Refund, request, IncomingCall.Of(context, time))).Value;

    public override async Task<CheckBalanceResponse> CheckBalance(
        CheckBalanceRequest request, ServerCallContext context) =>
        (await handler.HandleAsync(RequestKinds.Balance, request, IncomingCall.Of(context, time))).Value;

    public override async Task<GetBalanceAtResponse> GetBalanceAt(
        GetBalanceAtRequest request, ServerCallContext context) =>
        (await handler.HandleAsync(RequestKinds.BalanceAt, request, IncomingCall.Of(context, time))).Value;

    public override Task<GetTransactionResponse> GetTransaction(
        GetTransactionRequest request, ServerCallContext context) =>
        Transactions.FindAsync(handler, request, IncomingCall.Of(context, time));

    public override Task<ListStatementResponse> ListStatement(
        ListStatementRequest request, ServerCallContext context) =>
        StatementPages.ReadAsync(handler, request, IncomingCall.Of(context, time));

    public override async Task StreamStatement(
        ListStatementRequest request,
        IServerStreamWriter<ListStatementResponse> responseStream, ServerCallContext context)
    {
        var call = IncomingCall.Of(context, time);
        using var end = admission.EndOf(context.GetHttpContext());
        using var responses = new DrainingWriter<ListStatementResponse>(responseStream, end);
        await StatementPages.StreamAsync(handler, request, call, responses, end);
    }
}

/// <summary>The API for the operators of the platform, over gRPC.</summary>
internal sealed class GrpcAdminService(RequestHandler handler, TimeProvider time)
    : BillingAdminService.BillingAdminServiceBase
{
    public override async Task<SetCreditLimitResponse> SetCreditLimit(
        SetCreditLimitRequest request, ServerCallContext context) =>
        (await handler.HandleAsync(RequestKinds.CreditLimit, request, IncomingCall.Of(context, time))).Value;

    public override async Task<SetAccountStatusResponse> SetAccountStatus(
        SetAccountStatusRequest request, ServerCallContext context) =>
        (await handler.HandleAsync(RequestKinds.AccountStatus, request, IncomingCall.Of(context, time))).Value;
}
