using Billing.Contracts;
using Billing.Wire.V1;

namespace Billing.Proxy.Live;

/// <summary>The last payments whose steps were timed. Safe from any thread.</summary>
internal sealed class TimedPayments(int samplesPerSecond, CallSeconds seconds)
{
    private const int Kept = 10;

    // Callers that ask for times themselves do so as often as they like.
    private const int ShownPerSecondMax = 20;

    private readonly Lock _gate = new();
    private readonly Queue<TimedPayment> _payments = new(Kept);
    private long _second;
    private int _sampled;
    private int _shown;

    /// <summary>Has a payment timed, where it is this second's turn.</summary>
    public void Sample(Command command)
    {
        if (command.Timing is null && samplesPerSecond > 0 && TryCount(ref _sampled, samplesPerSecond))
        {
            // Nobody knows when the client sent it.
            command.Timing = new Timing { SentUnixUs = command.ReceivedUnixUs };
        }
    }

    /// <summary>Enters a payment that was answered.</summary>
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
        // Mostly the second is used up, which takes no lock to see.
        if (Volatile.Read(ref _second) == seconds.Now && Volatile.Read(ref count) >= max)
        {
            return false;
        }
        lock (_gate)
        {
            if (seconds.Now is var now && now != _second)
            {
                (_second, _sampled, _shown) = (now, 0, 0);
            }
            return count++ < max;
        }
    }
}

/// <summary>A payment and the times of its steps.</summary>
/// <param name="TransactionId">The payment.</param>
/// <param name="Account">Its account.</param>
/// <param name="PaymentType">Its type, as the topics call it.</param>
/// <param name="Outcome">What became of it.</param>
/// <param name="FromHere">Whether it was made on the page.</param>
/// <param name="Times">When each step was taken, in microseconds since the Unix epoch; those that were not are missing.</param>
internal sealed record TimedPayment(
    string TransactionId, string Account, string PaymentType, string Outcome, bool FromHere, IReadOnlyDictionary<string, long> Times)
{
    /// <summary>Of an answered command.</summary>
    public static TimedPayment Of(Command command, Reply reply, StepTimes times, bool fromHere) => new(
        command.TransactionId, command.Payment.AccountId, command.Payment.PaymentType.ToString(),
        reply.Payment?.Outcome.ToString() ?? reply.Error?.Reason ?? "", fromHere,
        times.Steps().Where(step => step.Value is not null)
            .ToDictionary(step => step.Key, step => UnixTime.Microseconds(step.Value!.Value), StringComparer.Ordinal));
}
