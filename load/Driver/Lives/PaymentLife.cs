using Billing.V1;

namespace Billing.Driver.Lives;

/// <summary>A payment with all that is to become of it: it is made, or authorised and then captured, voided or left on
/// hold; and given back. Captures and a void are sent at the same time, as are refunds; they may ask for more than
/// there is, and some are then refused.</summary>
/// <param name="Hold">The authorisation in its place; null if it is made at once.</param>
/// <param name="Voiding">The void; null for none.</param>
public sealed record PaymentLife(
    MakePaymentRequest Payment, AuthorisePaymentRequest? Hold, IReadOnlyList<CapturePaymentRequest> Captures,
    VoidPaymentRequest? Voiding, IReadOnlyList<RefundPaymentRequest> Refunds)
{
    private const int CentsPerUnit = 100;
    private const int NanosPerCent = 10_000_000;
    private const int OneInVoided = 4;
    private const int OneInFinal = 4;

    /// <summary>Makes a life up.</summary>
    /// <param name="random">Decides.</param>
    /// <param name="holdSeconds">How long amounts are on hold, one of these in seconds;
    /// 0 for the platform's default.</param>
    public static PaymentLife Of(MakePaymentRequest payment, Random random, IReadOnlyList<int> holdSeconds)
    {
        var isHeld = random.Next(2) == 0;
        return new PaymentLife(
            payment,
            isHeld ? payment.Authorisation(holdSeconds[random.Next(holdSeconds.Count)]) : null,
            isHeld ? [.. Parts(payment.Amount, random)
                .Select(part => payment.Capture(part, isFinal: random.Next(OneInFinal) == 0))] : [],
            isHeld && random.Next(OneInVoided) == 0 ? payment.Voiding() : null,
            [.. Parts(payment.Amount, random).Select(payment.Refund)]);
    }

    private static IEnumerable<Money> Parts(Money whole, Random random)
    {
        var cents = (int)(whole.Units * CentsPerUnit) + (whole.Nanos / NanosPerCent);
        var part = random.Next(1, cents);
        int[] parts = random.Next(4) switch
        {
            0 => [],
            1 => [cents],
            2 => [part, cents - part],
            _ => [part, random.Next(1, cents)],
        };
        return parts.Select(amount => new Money
        {
            CurrencyCode = whole.CurrencyCode,
            Units = amount / CentsPerUnit,
            Nanos = amount % CentsPerUnit * NanosPerCent,
        });
    }
}
