using System.Diagnostics.Metrics;
using Billing.Proxy.Failures;
using Billing.V1;

namespace Billing.Proxy.Telemetry;

/// <summary>Counts the payments that streams are answered: the status of a stream does not
/// tell how they ended.</summary>
internal static class StreamMetrics
{
    private static readonly Meter Meter = new(CallMetrics.MeterName);

    private static readonly Counter<long> Payments = Meter.CreateCounter<long>(
        "billing.stream.payments", "{payment}",
        "Payments answered on streams, by outcome; of those that failed, error.type is the status of the "
            + "platform's failures.");

    private static readonly KeyValuePair<string, object?> Accepted = new("billing.outcome", "accepted");
    private static readonly KeyValuePair<string, object?> Declined = new("billing.outcome", "declined");
    private static readonly KeyValuePair<string, object?> Failed = new("billing.outcome", "failed");

    public static void Answered(PaymentOutcome outcome) => Payments.Add(1, outcome switch
    {
        PaymentOutcome.Accepted => Accepted,
        PaymentOutcome.Declined => Declined,
        _ => Failed,
    });

    public static void Answered(Failure failure)
    {
        if (Errors.IsError(failure.Status, failure.Reason))
        {
            Payments.Add(1, Failed, new KeyValuePair<string, object?>("error.type", Errors.NameOf(failure.Status)));
        }
        else
        {
            Payments.Add(1, Failed);
        }
    }
}
