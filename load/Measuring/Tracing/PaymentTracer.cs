using System.Collections.Concurrent;
using Billing.Contracts;
using Billing.Driver;
using Billing.Driver.Channels;
using Billing.Journals;
using Billing.V1;

namespace Billing.Measuring.Tracing;

/// <summary>Sends timed payments at a constant rate and keeps the times of their steps.</summary>
internal sealed class PaymentTracer : IAsyncDisposable
{
    // Enough to open every connection and to have the code compiled; too few to overload the platform.
    private const int WarmUpCallers = 32;

    private readonly LoadDriver _driver;
    private readonly ConcurrentQueue<TracedPayment> _payments = new();

    public PaymentTracer(TraceOptions options, IReadOnlyList<string> proxies, TimeProvider time) =>
        _driver = new LoadDriver(
            new LoadSpec
            {
                Addresses = proxies,
                Connections = options.Connections,
                Shape = LoadShape.Open.At(options.Rate, options.Requests / (double)options.Rate),
                WarmUp =
                    options.WarmUp == 0 ? null : new LoadShape.Closed(WarmUpCallers, 3600) { Amount = options.WarmUp },
                Accounts = options.Accounts,
                Seed = options.Seed,
                IsTimed = true,
            },
            time)
        {
            Observe = (request, answer, span) => _payments.Enqueue(Traced(request, answer, span)),
        };

    /// <summary>Number of payments answered or failed so far.</summary>
    public int Done => (int)_driver.Done;

    /// <summary>The payments that have been answered or have failed so far, in the order in
    /// which they were due.</summary>
    public IReadOnlyList<TracedPayment> Payments => [.. _payments.OrderBy(payment => payment[Moment.Planned])];

    /// <summary>Sends the payments of the warm-up, which are not traced.</summary>
    public Task WarmUpAsync(CancellationToken cancellationToken) => _driver.WarmUpAsync(cancellationToken);

    /// <summary>Sends the payments and waits for every answer.</summary>
    /// <param name="stopping">Stops sending; payments in flight are still awaited.</param>
    public Task RunAsync(CancellationToken stopping) => _driver.RunAsync(stopping);

    public ValueTask DisposeAsync() => _driver.DisposeAsync();

    private static TracedPayment Traced(MakePaymentRequest request, Answer<MakePaymentResponse> answer, CallSpan span)
    {
        var stream = StreamId.For(request.PaymentType, request.AccountId);
        var payment = new TracedPayment(
            Guid.Parse(request.TransactionId), stream, answer.Message?.Version ?? 0,
            answer.Message?.Outcome.ToString() ?? answer.Error.Split(' ', ':')[0]);
        payment.SetTimes(answer.Times ?? new StepTimes(Returned: UnixTime.FromMicroseconds(span.EndedUnixUs)));
        payment[Moment.Planned] = span.BeganUnixUs;
        return payment;
    }
}
