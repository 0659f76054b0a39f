using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Calls the billing platform: each call goes to the next proxy in turn, and one that a proxy could not take goes
/// to the one after it, with the same transaction id, so nothing is charged twice. Safe from any thread; keep one for the
/// life of the program.</summary>
public sealed class BillingClient : IDisposable
{
    private readonly BillingClientOptions _options;
    private readonly TimeProvider _time;
    private readonly ProxyPool _proxies;
    private readonly RetryPolicy _callRetries;
    private readonly RetryPolicy _streamRetries;
    private long _retried;

    /// <summary>Creates a client; connections are made with the first calls.</summary>
    /// <exception cref="ArgumentException">The options cannot be used; the message names which.</exception>
    public BillingClient(BillingClientOptions options, TimeProvider time)
    {
        if (options.Proxies.Count == 0 || options.Problems().Any())
        {
            throw new ArgumentException(
                string.Join(' ', options.Problems().DefaultIfEmpty("Billing:Client:Proxies is empty.")), nameof(options));
        }
        _options = options;
        _time = time;
        _proxies = new ProxyPool(options.Proxies);
        _callRetries = RetryPolicy.ForCalls(options, time);
        _streamRetries = RetryPolicy.ForStreams(options, time);
    }

    /// <summary>Calls, and payments on streams, that had to be sent again.</summary>
    public long Retried => Interlocked.Read(ref _retried);

    /// <summary>Charges an account.</summary>
    /// <param name="request">Its transaction id is the idempotency key: keep it, and a call whose outcome is unknown can be
    /// asked again safely.</param>
    /// <param name="cancellationToken">Gives up; the payment may or may not be recorded.</param>
    /// <returns>Accepted or declined; a declined payment is an answer, not an error.</returns>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<MakePaymentResponse> MakePaymentAsync(MakePaymentRequest request, CancellationToken cancellationToken = default) =>
        CallAsync((proxy, options) => proxy.Billing.MakePaymentAsync(request, options).ResponseAsync, cancellationToken);

    /// <summary>Charges an account, as <see cref="MakePaymentAsync"/> does, and asks when each step of it was taken; the
    /// stored event keeps it too. Where the call had to be sent again, the times are those of the try that was answered.
    /// </summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<TimedPayment> MakeTimedPaymentAsync(MakePaymentRequest request, CancellationToken cancellationToken = default) =>
        CallAsync((proxy, options) => PayTimedAsync(proxy, request, options), cancellationToken);

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
        return new BulkPayments(_proxies, _streamRetries, _options.StreamWindow, _time, CountRetried)
            .RunAsync(requests, cancellationToken);
    }

    /// <summary>Reads an account's balance.</summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<CheckBalanceResponse> CheckBalanceAsync(CheckBalanceRequest request, CancellationToken cancellationToken = default) =>
        CallAsync((proxy, options) => proxy.Billing.CheckBalanceAsync(request, options).ResponseAsync, cancellationToken);

    /// <summary>Reads what happened to an account, in order. When the stream breaks, it goes on at the next proxy after the
    /// last entry received.</summary>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public IAsyncEnumerable<StatementEntry> GetStatementAsync(
        GetStatementRequest request, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return StatementReader.ReadAsync(_proxies, _streamRetries, CountRetried, request, cancellationToken);
    }

    /// <summary>Sets what an account may owe at most. For operators.</summary>
    /// <param name="request">Its transaction id is the idempotency key, as with a payment.</param>
    /// <param name="cancellationToken">Gives up; the limit may or may not be set.</param>
    /// <exception cref="RpcException">The call failed; see <see cref="Reason"/>.</exception>
    public Task<SetCreditLimitResponse> SetCreditLimitAsync(
        SetCreditLimitRequest request, CancellationToken cancellationToken = default) =>
        CallAsync((proxy, options) => proxy.Admin.SetCreditLimitAsync(request, options).ResponseAsync, cancellationToken);

    /// <summary>The machine-readable reason of a failure, one of <see cref="ErrorReasons"/>; empty where there is none.
    /// </summary>
    public static string Reason(RpcException failure) => failure.Trailers.GetValue(Trailers.Reason) ?? "";

    /// <inheritdoc/>
    public void Dispose() => _proxies.Dispose();

    private async Task<TimedPayment> PayTimedAsync(ProxyServices proxy, MakePaymentRequest request, CallOptions options)
    {
        var sent = _time.GetUtcNow();
        var header = UnixTime.Microseconds(sent).ToString(CultureInfo.InvariantCulture);
        using var call = proxy.Billing.MakePaymentAsync(
            request, options.WithHeaders(new Metadata { { RequestHeaders.SentAt, header } }));
        var answer = await call;
        var returned = _time.GetUtcNow();
        // A proxy from before there were times tells none.
        var known = StepTimes.TryParse(call.GetTrailers().GetValue(Trailers.Times), out var times);
        return new TimedPayment(answer, (known ? times! : new StepTimes(Sent: sent)) with { Returned = returned });
    }

    private async Task<T> CallAsync<T>(
        Func<ProxyServices, CallOptions, Task<T>> call, CancellationToken cancellationToken)
    {
        // One deadline for all tries, so that a retry never makes the caller wait longer than it said.
        var options = new CallOptions(
            deadline: (_time.GetUtcNow() + _options.Deadline).UtcDateTime, cancellationToken: cancellationToken);
        var turn = _proxies.NextTurn();
        try
        {
            return await call(_proxies[turn], options);
        }
        catch (RpcException e) when (_callRetries.Handles(e))
        {
            // Only from here on what the good case need not pay for.
            return await CallAgainAsync(call, turn, options, e);
        }
    }

    private Task<T> CallAgainAsync<T>(
        Func<ProxyServices, CallOptions, Task<T>> call, uint turn, CallOptions options, RpcException first) =>
        _callRetries.TryAgainAsync(
            first,
            async () =>
            {
                CountRetried(1);
                // From the proxy that failed to the one after it: drawn from the shared turn, other calls' draws between
                // could lead back to it again and again.
                return await call(_proxies[++turn], options);
            },
            options.CancellationToken);

    private void CountRetried(int calls) => Interlocked.Add(ref _retried, calls);
}
