namespace Billing.Measuring;

/// <summary>Payments that clients have sent to a stack, those of warm-ups included.</summary>
/// <param name="Answered">Number of accepted or declined payments, each of which the event store holds.</param>
/// <param name="Unanswered">Number of failed payments, each of which the event store may hold.</param>
public readonly record struct SentPayments(long Answered, long Unanswered)
{
    /// <summary>The payments of both.</summary>
    public static SentPayments operator +(SentPayments one, SentPayments other) =>
        new(one.Answered + other.Answered, one.Unanswered + other.Unanswered);
}
