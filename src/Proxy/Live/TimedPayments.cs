using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Proxy.Limits;
using Billing.Wire.V1;

namespace Billing.Proxy.Live;

/// <summary>The last payments whose steps were timed. Thread-safe.</summary>
internal sealed class TimedPayments(int samplesPerSecond, TimeProvider time)
{
    private const int Kept = 10;

    // Bounded, since callers may request timing for any number of payments themselves.
    private const int ShownPerSecondMax = 20;

    private readonly Lock _gate = new();
    private readonly Queue<TimedPayment> _payments = new(Kept);
    private readonly TokenBucket? _sampled =
        samplesPerSecond > 0 ? new(samplesPerSecond, samplesPerSecond, time) : null;
    private readonly TokenBucket _shown = new(ShownPerSecondMax, ShownPerSecondMax, time);

    /// <summary>Whether one more payment may be timed: not if enough payments of this second
    /// have been sampled.</summary>
    public bool TrySample() => _sampled is not null && _sampled.Take() is null;

    /// <summary>Adds an answered payment.</summary>
    public void Add(TimedPayment payment)
    {
        if (!payment.FromHere && _shown.Take() is not null)
        {
            return;
        }
        lock (_gate)
        {
            if (_payments.Count == Kept)
            {
                _payments.Dequeue();
            }
            _payments.Enqueue(payment);
        }
    }

    /// <summary>The payments, the latest first.</summary>
    public IReadOnlyList<TimedPayment> Latest()
    {
        lock (_gate)
        {
            return [.. _payments.Reverse()];
        }
    }
}

/// <summary>A payment, with its outcome or the reason of the error, whether it was made on the page (FromHere), and
/// when each of its steps was taken, in microseconds since the Unix epoch; steps not taken are missing.</summary>
internal sealed record TimedPayment(
    string TransactionId, string Account, string PaymentType, string Outcome,
    bool FromHere, IReadOnlyDictionary<string, long> Times)
{
    public static TimedPayment Of(Request request, Reply reply, StepTimes times, bool fromHere) => new(
        request.TransactionId, request.Route.AccountId, request.Route.PaymentType.ToString(),
        reply.Payment?.Outcome.ToString() ?? reply.Error?.Reason ?? "", fromHere,
        times.Steps().Where(step => step.Value is not null)
            .ToDictionary(step => step.Key, step => UnixTime.Microseconds(step.Value!.Value), StringComparer.Ordinal));
}
