using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <content>The same calls as messages of billing.proto: for those who want what is on the wire, and gRPC's own failures.
/// </content>
public sealed partial class BillingClient
{
    /// <summary>Charges an account.</summary>
    /// <param name="request">Its transaction id is the idempotency key: keep it, and a call whose outcome is unknown can be
    /// asked again safely.</param>
    /// <param name="cancellationToken">Gives up; the payment may or may not be recorded.</param>
    /// <returns>Accepted or declined; a declined payment is an answer, not an error.</returns>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<MakePaymentResponse> MakePaymentAsync(MakePaymentRequest request, CancellationToken cancellationToken = default) =>
        _calls.RunAsync(MakePayment(request), deadline: null, cancellationToken);

    /// <summary>Charges an account, as <see cref="MakePaymentAsync"/> does, and asks when each step of it was taken; the
    /// stored event keeps it too. Where the call had to be sent again, the times are those of the try that was answered.
    /// </summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<TimedPayment> MakeTimedPaymentAsync(MakePaymentRequest request, CancellationToken cancellationToken = default) =>
        _calls.RunAsync(
            new UnaryCall<MakePaymentRequest, TimedPayment>("billing.v1.Billing/MakePayment", request, PayTimedAsync),
            deadline: null, cancellationToken);

    /// <summary>Charges many accounts over one stream to one proxy at a time, which costs far less than a call for each. At
    /// most <see cref="BillingClientOptions.StreamWindow"/> payments are in hand at a time: whoever enumerates slowly is
    /// read for slowly. When a stream breaks or ends early, the payments without an answer go to the next proxy under the
    /// same transaction ids, so nothing is charged twice.</summary>
    /// <param name="requests">Enumerated while the answers are; it should end when its token is cancelled, which happens when
    /// the answers are enumerated no further.</param>
    /// <param name="cancellationToken">Gives up; what has no answer yet may or may not be recorded.</param>
    /// <returns>One answer for each request, in the order they come: accepted, declined, or failed with
    /// <see cref="MakePaymentResponse.Error"/>. A payment is answered as failed when it breaks a rule, when a proxy could not
    /// take it <see cref="BillingClientOptions.RetriesMax"/> times over, or when its outcome is unknown.</returns>
    /// <exception cref="RpcException">No proxy takes the stream. What was in hand has been answered as failed before; of the
    /// remaining requests none was sent.</exception>
    public IAsyncEnumerable<MakePaymentResponse> MakePaymentsAsync(
        IAsyncEnumerable<MakePaymentRequest> requests, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(requests);
        return new BulkPayments(Streams("billing.v1.Billing/MakePayments"), _budget, _options.StreamWindow, _time)
            .RunAsync(requests, cancellationToken);
    }

    /// <summary>Reads an account's balance.</summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<CheckBalanceResponse> CheckBalanceAsync(CheckBalanceRequest request, CancellationToken cancellationToken = default) =>
        _calls.RunAsync(CheckBalance(request), deadline: null, cancellationToken);

    /// <summary>Reads what happened to an account, in order. When the stream breaks, it goes on at the next proxy after the
    /// last entry received.</summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public IAsyncEnumerable<StatementEntry> GetStatementAsync(
        GetStatementRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return StatementReader.ReadAsync(Streams("billing.v1.Billing/GetStatement"), request, cancellationToken);
    }

    /// <summary>Sets what an account may owe at most. For operators.</summary>
    /// <param name="request">Its transaction id is the idempotency key, as with a payment.</param>
    /// <param name="cancellationToken">Gives up; the limit may or may not be set.</param>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<SetCreditLimitResponse> SetCreditLimitAsync(
        SetCreditLimitRequest request, CancellationToken cancellationToken = default) =>
        _calls.RunAsync(SetCreditLimit(request), deadline: null, cancellationToken);

    /// <summary>The machine-readable reason of a failure, one of <see cref="ErrorReasons"/>; empty where there is none.
    /// </summary>
    public static string Reason(RpcException failure) => failure.Trailers.GetValue(Trailers.Reason) ?? "";

    private static UnaryCall<MakePaymentRequest, MakePaymentResponse> MakePayment(MakePaymentRequest request) => new(
        "billing.v1.Billing/MakePayment", request,
        static (proxy, request, options) => proxy.Billing.MakePaymentAsync(request, options).ResponseAsync);

    private static UnaryCall<CheckBalanceRequest, CheckBalanceResponse> CheckBalance(CheckBalanceRequest request) => new(
        "billing.v1.Billing/CheckBalance", request,
        static (proxy, request, options) => proxy.Billing.CheckBalanceAsync(request, options).ResponseAsync);

    private static UnaryCall<SetCreditLimitRequest, SetCreditLimitResponse> SetCreditLimit(SetCreditLimitRequest request) => new(
        "billing.v1.BillingAdmin/SetCreditLimit", request,
        static (proxy, request, options) => proxy.Admin.SetCreditLimitAsync(request, options).ResponseAsync);

    private StreamCalls Streams(string method) => new(method, _proxies, _streamRetries, _token, _telemetry);

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
        // A proxy from before there were times tells none.
        var known = StepTimes.TryParse(call.GetTrailers().GetValue(Trailers.Times), out var times);
        return new TimedPayment(answer, (known ? times! : new StepTimes(Sent: sent)) with { Returned = returned });
    }
}
