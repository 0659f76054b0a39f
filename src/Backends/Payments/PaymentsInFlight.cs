using Billing.Messaging;

namespace Billing.Backends.Payments;

/// <summary>The payments this backend works on, by transaction id, so that copies of one request that arrive meanwhile
/// join the first instead of racing it.</summary>
public sealed class PaymentsInFlight
{
    private readonly Dictionary<Guid, PendingPayment> _payments = [];
    private readonly Lock _gate = new();

    /// <summary>Enters deliveries.</summary>
    /// <returns>The payments that were not in flight before.</returns>
    public List<PendingPayment> Enter(IReadOnlyList<Delivery> deliveries)
    {
        var fresh = new List<PendingPayment>(deliveries.Count);
        lock (_gate)
        {
            foreach (var delivery in deliveries)
            {
                var id = Guid.Parse(delivery.Command.TransactionId);
                if (_payments.TryGetValue(id, out var first))
                {
                    first.Join(delivery);
                    continue;
                }
                var payment = new PendingPayment(delivery);
                _payments.Add(id, payment);
                fresh.Add(payment);
            }
        }
        return fresh;
    }

    /// <summary>Takes payments out: whoever asks for one from now on finds its receipt.</summary>
    public void Leave(IEnumerable<PendingPayment> payments)
    {
        lock (_gate)
        {
            foreach (var payment in payments)
            {
                _payments.Remove(payment.Payment.TransactionId);
            }
        }
    }
}
