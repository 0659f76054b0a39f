using Billing.Contracts;
using Billing.Messaging.Requests;
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
    private long _second;
    private int _sampled;
    private int _shown;

    private long Now => time.GetUtcNow().ToUnixTimeSeconds();

    /// <summary>Whether one more payment may be timed: not if enough payments of this second have been sampled.</summary>
    public bool TrySample() => samplesPerSecond > 0 && TryCount(ref _sampled, samplesPerSecond);

    /// <summary>Adds an answered payment.</summary>
    public void Add(TimedPayment payment)
    {
        if (!payment.FromHere && !TryCount(ref _shown, ShownPerSecondMax))
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

    private bool TryCount(ref int count, int max)
    {
        // Usually this second's count is used up, which is seen without the lock.
        if (Volatile.Read(ref _second) == Now && Volatile.Read(ref count) >= max)
        {
            return false;
        }
        lock (_gate)
        {
            if (Now is var now && now != _second)
            {
                (_second, _sampled, _shown) = (now, 0, 0);
            }
            return count++ < max;
        }
    }
}

/// <summary>A payment, with its outcome or the reason of the error, whether it was made on the page (FromHere), and when each of its
/// steps was taken, in microseconds since the Unix epoch; steps not taken are missing.</summary>
internal sealed record TimedPayment(
    string TransactionId, string Account, string PaymentType, string Outcome, bool FromHere, IReadOnlyDictionary<string, long> Times)
{
    public static TimedPayment Of(Request request, Reply reply, StepTimes times, bool fromHere) => new(
        request.TransactionId, request.Route.AccountId, request.Route.PaymentType.ToString(),
        reply.Payment?.Outcome.ToString() ?? reply.Error?.Reason ?? "", fromHere,
        times.Steps().Where(step => step.Value is not null)
            .ToDictionary(step => step.Key, step => UnixTime.Microseconds(step.Value!.Value), StringComparer.Ordinal));
}
