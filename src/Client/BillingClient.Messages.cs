using System.Globalization;
using System.Runtime.CompilerServices;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <content>The same calls with the messages of billing.proto, for callers that need the wire format and gRPC's own failures.
/// </content>
public sealed partial class BillingClient
{
    /// <summary>Charges an account.</summary>
    /// <param name="request">Its transaction id is the idempotency key: keep it, so that a call whose outcome is unknown can be
    /// retried safely.</param>
    /// <param name="cancellationToken">Cancels the call; the payment may or may not be recorded.</param>
    /// <returns>Accepted or declined; a declined payment is an answer, not an error.</returns>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<MakePaymentResponse> MakePaymentAsync(MakePaymentRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(MakePayment(request), deadline: null, cancellationToken);

    /// <summary>Charges an account, as <see cref="MakePaymentAsync"/> does, and returns the time of each processing step, which
    /// the stored event keeps too. If the call was retried, the times are those of the attempt that was answered.</summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<TimedPayment> MakeTimedPaymentAsync(MakePaymentRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(
            new UnaryCall<MakePaymentRequest, TimedPayment>("billing.v1.BillingService/MakePayment", request, PayTimedAsync),
            deadline: null, cancellationToken);

    /// <summary>Charges many accounts over one stream to one proxy at a time, which costs far less than one call per payment.
    /// At most <see cref="BillingClientOptions.StreamWindow"/> payments are in flight: requests are read only as fast as the
    /// answers are enumerated. When a stream breaks or ends early, the unanswered payments go to the next proxy with the same
    /// transaction ids, so nothing is charged twice.</summary>
    /// <param name="requests">Enumerated while the answers are enumerated; it should end when its token is cancelled, which
    /// happens when the enumeration of the answers stops.</param>
    /// <param name="cancellationToken">Cancels the run; the unanswered payments may or may not be recorded.</param>
    /// <returns>One answer for each request, in the order of arrival: accepted, declined, or an error. A payment fails when it is invalid, when all
    /// <see cref="BillingClientOptions.RetriesMax"/> retries are used up, or when its outcome is unknown.</returns>
    /// <exception cref="RpcException">No proxy accepts the stream. The payments in flight have been answered as failed before;
    /// none of the remaining requests was sent.</exception>
    public IAsyncEnumerable<MakePaymentsResponse> MakePaymentsAsync(
        IAsyncEnumerable<MakePaymentRequest> requests, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(requests);
        return MessagesAsync(cancellationToken);

        async IAsyncEnumerable<MakePaymentsResponse> MessagesAsync([EnumeratorCancellation] CancellationToken enumeration)
        {
            await foreach (var (answer, _) in _calls.Bulk().RunAsync(requests, enumeration))
            {
                yield return answer;
            }
        }
    }

    /// <summary>Reads an account's balance.</summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<CheckBalanceResponse> CheckBalanceAsync(CheckBalanceRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(CheckBalance(request), deadline: null, cancellationToken);

    /// <summary>Reads an account's balance as it was.</summary>
    /// <exception cref="RpcException">The call failed, with <see cref="ErrorReasons.VersionNotReached"/> if the account has no such version; see
    /// <see cref="Reason"/>.</exception>
    public Task<GetBalanceAtResponse> GetBalanceAtAsync(GetBalanceAtRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(GetBalanceAt(request), deadline: null, cancellationToken);

    /// <summary>Puts an amount on hold.</summary>
    /// <returns>Accepted, if it is on hold, or declined.</returns>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<AuthorisePaymentResponse> AuthorisePaymentAsync(AuthorisePaymentRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(AuthorisePayment(request), deadline: null, cancellationToken);

    /// <summary>Charges what is on hold, whole or in part.</summary>
    /// <exception cref="RpcException">The call failed, or the capture is refused; see <see cref="Reason"/>.</exception>
    public Task<CapturePaymentResponse> CapturePaymentAsync(CapturePaymentRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(CapturePayment(request), deadline: null, cancellationToken);

    /// <summary>Releases what is on hold.</summary>
    /// <exception cref="RpcException">The call failed, or the request is refused; see <see cref="Reason"/>.</exception>
    public Task<VoidPaymentResponse> VoidPaymentAsync(VoidPaymentRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(VoidPayment(request), deadline: null, cancellationToken);

    /// <summary>Gives back a payment, whole or in part.</summary>
    /// <exception cref="RpcException">The call failed, or the refund is refused; see <see cref="Reason"/>.</exception>
    public Task<RefundPaymentResponse> RefundPaymentAsync(RefundPaymentRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(RefundPayment(request), deadline: null, cancellationToken);

    /// <summary>Finds what is recorded of a request by its transaction id.</summary>
    /// <exception cref="RpcException">The call failed, with <see cref="ErrorReasons.TransactionNotFound"/> if there is no such record; see
    /// <see cref="Reason"/>.</exception>
    public Task<GetTransactionResponse> GetTransactionAsync(GetTransactionRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(GetTransaction(request), deadline: null, cancellationToken);

    /// <summary>Reads the statement of an account, page after page. When the stream breaks, reading continues at the next proxy, after
    /// the last page received.</summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public IAsyncEnumerable<ListStatementResponse> StreamStatementAsync(
        ListStatementRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return StatementReader.ReadAsync(_calls.Streams("billing.v1.BillingService/StreamStatement"), request, cancellationToken);
    }

    /// <summary>Reads a page of the statement of an account.</summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<ListStatementResponse> ListStatementAsync(ListStatementRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(ListStatement(request), deadline: null, cancellationToken);

    /// <summary>Returns the machine-readable reason of a failure, one of <see cref="ErrorReasons"/>; empty if it has none.
    /// </summary>
    public static string Reason(RpcException failure) => ProxyFailure.Reason(failure);

    private static UnaryCall<MakePaymentRequest, MakePaymentResponse> MakePayment(MakePaymentRequest request) => new(
        "billing.v1.BillingService/MakePayment", request,
        static (proxy, request, options) => proxy.Billing.MakePaymentAsync(request, options).ResponseAsync);

    private static UnaryCall<AuthorisePaymentRequest, AuthorisePaymentResponse> AuthorisePayment(AuthorisePaymentRequest request) => new(
        "billing.v1.BillingService/AuthorisePayment", request,
        static (proxy, request, options) => proxy.Billing.AuthorisePaymentAsync(request, options).ResponseAsync);

    private static UnaryCall<CapturePaymentRequest, CapturePaymentResponse> CapturePayment(CapturePaymentRequest request) => new(
        "billing.v1.BillingService/CapturePayment", request,
        static (proxy, request, options) => proxy.Billing.CapturePaymentAsync(request, options).ResponseAsync);

    private static UnaryCall<VoidPaymentRequest, VoidPaymentResponse> VoidPayment(VoidPaymentRequest request) => new(
        "billing.v1.BillingService/VoidPayment", request,
        static (proxy, request, options) => proxy.Billing.VoidPaymentAsync(request, options).ResponseAsync);

    private static UnaryCall<RefundPaymentRequest, RefundPaymentResponse> RefundPayment(RefundPaymentRequest request) => new(
        "billing.v1.BillingService/RefundPayment", request,
        static (proxy, request, options) => proxy.Billing.RefundPaymentAsync(request, options).ResponseAsync);

    private static UnaryCall<GetTransactionRequest, GetTransactionResponse> GetTransaction(GetTransactionRequest request) => new(
        "billing.v1.BillingService/GetTransaction", request,
        static (proxy, request, options) => proxy.Billing.GetTransactionAsync(request, options).ResponseAsync);

    private static UnaryCall<CheckBalanceRequest, CheckBalanceResponse> CheckBalance(CheckBalanceRequest request) => new(
        "billing.v1.BillingService/CheckBalance", request,
        static (proxy, request, options) => proxy.Billing.CheckBalanceAsync(request, options).ResponseAsync);

    private static UnaryCall<GetBalanceAtRequest, GetBalanceAtResponse> GetBalanceAt(GetBalanceAtRequest request) => new(
        "billing.v1.BillingService/GetBalanceAt", request,
        static (proxy, request, options) => proxy.Billing.GetBalanceAtAsync(request, options).ResponseAsync);

    private static UnaryCall<ListStatementRequest, ListStatementResponse> ListStatement(ListStatementRequest request) => new(
        "billing.v1.BillingService/ListStatement", request,
        static (proxy, request, options) => proxy.Billing.ListStatementAsync(request, options).ResponseAsync);

    private async Task<TimedPayment> PayTimedAsync(Proxy proxy, MakePaymentRequest request, CallOptions options)
    {
        var sent = _time.GetUtcNow();
        var headers = new Metadata { { RequestHeaders.SentAt, UnixTime.Microseconds(sent).ToString(CultureInfo.InvariantCulture) } };
        foreach (var header in options.Headers ?? [])
        {
            headers.Add(header);
        }
        using var call = proxy.Billing.MakePaymentAsync(request, options.WithHeaders(headers));
        var answer = await call;
        var returned = _time.GetUtcNow();
        // Proxies of older versions send no times.
        var known = StepTimes.TryParse(call.GetTrailers().GetValue(Trailers.Times), out var times);
        return new TimedPayment(answer, (known ? times! : new StepTimes(Sent: sent)) with { Returned = returned });
    }
}

/// <summary>The answer to a timed payment.</summary>
/// <param name="Answer">Accepted or declined.</param>
/// <param name="Times">The times of the processing steps.</param>
public sealed record TimedPayment(MakePaymentResponse Answer, StepTimes Times);
