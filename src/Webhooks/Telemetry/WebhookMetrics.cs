using System.Diagnostics.Metrics;

namespace Billing.Webhooks.Telemetry;

/// <summary>The metrics of deliveries, by receiver.</summary>
internal static class WebhookMetrics
{
    public const string MeterName = "Billing.Webhooks";

    private static readonly Meter Meter = new(MeterName);

    private static readonly Counter<long> DeliveredEvents = Meter.CreateCounter<long>(
        "billing.webhooks.delivered", "{event}", "Events that a receiver has taken.");

    private static readonly Counter<long> FailedAttempts = Meter.CreateCounter<long>(
        "billing.webhooks.failed", "{attempt}", "Attempts to deliver an event that failed, by reason.");

    private static readonly Counter<long> ParkedAccounts = Meter.CreateCounter<long>(
        "billing.webhooks.parked", "{account}", "Accounts whose events for a receiver were parked.");

    private static readonly Counter<long> MissedEvents = Meter.CreateCounter<long>(
        "billing.webhooks.missed", "{event}", "Events that the topic had lost before they were taken over.");

    private static readonly Gauge<long> PendingEvents = Meter.CreateGauge<long>(
        "billing.webhooks.pending", "{event}", "Events that wait for a receiver, parked ones included.");

    private static readonly Gauge<double> OldestAge = Meter.CreateGauge<double>(
        "billing.webhooks.oldest.age", "s",
        "Time since the oldest event that waits for a receiver was taken over; 0 if none waits.");

    private static readonly Gauge<long> Parked = Meter.CreateGauge<long>(
        "billing.webhooks.parked.accounts", "{account}", "Accounts whose events for a receiver are parked now.");

    /// <summary>Reports zero for every counter, so that each time series exists from the start.</summary>
    public static void Begin(IEnumerable<string> receivers)
    {
        MissedEvents.Add(0);
        foreach (var receiver in receivers)
        {
            DeliveredEvents.Add(0, Of(receiver));
            ParkedAccounts.Add(0, Of(receiver));
        }
    }

    public static void Delivered(string receiver, int events) => DeliveredEvents.Add(events, Of(receiver));

    public static void Failed(string receiver, string reason) =>
        FailedAttempts.Add(1, Of(receiver), new("error.type", reason));

    public static void Park(string receiver, int accounts) => ParkedAccounts.Add(accounts, Of(receiver));

    public static void Missed(long events) => MissedEvents.Add(events);

    public static void Waiting(string receiver, long events, TimeSpan oldestAge, long parkedAccounts)
    {
        PendingEvents.Record(events, Of(receiver));
        OldestAge.Record(oldestAge.TotalSeconds, Of(receiver));
        Parked.Record(parkedAccounts, Of(receiver));
    }

    private static KeyValuePair<string, object?> Of(string receiver) => new("billing.receiver", receiver);
}
