using Billing.Client;
using Billing.Contracts;
using Billing.LoadClient;
using Billing.Measuring.Driving;
using Grpc.Core;

namespace Billing.Measuring.Tracing;

/// <summary>Sends timed payments at a constant rate and keeps the times of their steps.</summary>
internal sealed class PaymentTracer : IAsyncDisposable
{
    // Enough to open every connection and to have the code compiled; too few to overload the platform.
    private const int WarmUpConcurrency = 32;

    private readonly TraceOptions _options;
    private readonly TimeProvider _time;
    private readonly BillingClient[] _clients;
    private readonly RandomRequests _requests;
    private readonly TracedPayment?[] _payments;
    private int _done;

    public PaymentTracer(TraceOptions options, IReadOnlyList<string> proxies, TimeProvider time)
    {
        _options = options;
        _time = time;
        _requests = new RandomRequests(options.Accounts, new Random(options.Seed));
        _payments = new TracedPayment?[options.Requests];
        _clients = [.. Enumerable.Range(0, options.Connections).Select(n => Connect(proxies[n % proxies.Count], time))];
    }

    /// <summary>Number of payments answered or failed so far.</summary>
    public int Done => Volatile.Read(ref _done);

    /// <summary>The payments that have been answered or have failed so far.</summary>
    public IReadOnlyList<TracedPayment> Payments => [.. _payments.Select((_, i) => Volatile.Read(ref _payments[i])).OfType<TracedPayment>()];

    /// <summary>Sends the payments of the warm-up, which are not traced.</summary>
    public async Task WarmUpAsync(CancellationToken cancellationToken)
    {
        for (var sent = 0; sent < _options.WarmUp; sent += WarmUpConcurrency)
        {
            var round = Math.Min(WarmUpConcurrency, _options.WarmUp - sent);
            await Task.WhenAll(Enumerable.Range(sent, round).Select(
                n => _clients[n % _clients.Length].MakeTimedPaymentAsync(_requests.Payment(), cancellationToken)));
        }
    }

    /// <summary>Sends the payments and waits for every answer.</summary>
    /// <param name="stopping">Stops sending; payments in flight are still awaited.</param>
    public async Task RunAsync(CancellationToken stopping)
    {
        var loop = new OpenLoop(new Arrivals(_options.Rate), _time);
        var startUnixUs = _time.Microseconds();
        await loop.RunAsync(_options.Requests, (number, due) => PayAsync((int)number, startUnixUs + (long)due.TotalMicroseconds), stopping);
    }

    public ValueTask DisposeAsync()
    {
        foreach (var client in _clients)
        {
            client.Dispose();
        }
        return ValueTask.CompletedTask;
    }

    /// <summary>Creates a client with one connection to one proxy.</summary>
    private static BillingClient Connect(string proxy, TimeProvider time)
    {
        var options = new BillingClientOptions { Deadline = TimeSpan.FromSeconds(30), RetryShare = null };
        options.Proxies.Add(proxy);
        return new BillingClient(options, time);
    }

    private async Task PayAsync(int number, long plannedUnixUs)
    {
        // Created before the first await, and therefore by one thread at a time.
        var request = _requests.Payment();
        var sent = _time.GetUtcNow();
        var stream = StreamId.For(request.PaymentType, request.AccountId);
        TracedPayment payment;
        try
        {
            var timed = await _clients[number % _clients.Length].MakeTimedPaymentAsync(request);
            payment = new TracedPayment(Guid.Parse(request.TransactionId), stream, timed.Answer.Version, timed.Answer.Outcome.ToString());
            payment.SetTimes(timed.Times);
        }
        catch (RpcException e)
        {
            payment = new TracedPayment(Guid.Parse(request.TransactionId), stream, 0, e.StatusCode.ToString());
            payment.SetTimes(new StepTimes(Sent: sent, Returned: _time.GetUtcNow()));
        }
        payment[Moment.Planned] = plannedUnixUs;
        Volatile.Write(ref _payments[number], payment);
        Interlocked.Increment(ref _done);
    }
}
