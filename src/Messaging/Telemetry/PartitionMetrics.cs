using System.Diagnostics.Metrics;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace Billing.Messaging.Telemetry;

/// <summary>The progress of a member of a consumer group on one partition.</summary>
/// <param name="Topic">The topic.</param>
/// <param name="Number">The partition's number.</param>
/// <param name="Lag">Number of records on the brokers that it has not read.</param>
/// <param name="Unsettled">Number of records on the brokers from the first unsettled one on.</param>
/// <param name="Age">Time since the oldest unsettled record was read, in seconds; 0 if there is none.
/// </param>
internal readonly record struct PartitionState(string Topic, int Number, long Lag, long Unsettled, double Age);

/// <summary>Gauges per partition. Each member reports the state of its partitions periodically, on its own thread, so that
/// reading the gauges never accesses a client that may be closing.</summary>
internal static class PartitionMetrics
{
    // Weak keys: the last report of a member that was not removed disappears with the member.
    private static readonly ConditionalWeakTable<object, PartitionState[]> Members = [];

    private static readonly Meter Meter = new(MessagingMetrics.MeterName);

    private static readonly ObservableGauge<long> Lag = Meter.CreateObservableGauge(
        "billing.kafka.consumer.lag", () => Read(state => state.Lag), "{record}", "Records on a partition that its consumer has not read yet.");

    private static readonly ObservableGauge<long> Unsettled = Meter.CreateObservableGauge(
        "billing.kafka.watermark.lag", () => Read(state => state.Unsettled), "{record}",
        "Records on a partition from the offset watermark on: those that a restart would read again and those not yet read.");

    private static readonly ObservableGauge<double> Age = Meter.CreateObservableGauge(
        "billing.kafka.watermark.age", () => Read(state => state.Age), "s",
        "Time since the unsettled record at the offset watermark was read.");

    /// <summary>Whether any of the gauges is enabled.</summary>
    public static bool IsOn => Lag.Enabled || Unsettled.Enabled || Age.Enabled;

    /// <summary>Sets the state of the partitions of a member; an empty array removes the member.</summary>
    public static void Set(object member, PartitionState[] states)
    {
        if (states.Length > 0)
        {
            Members.AddOrUpdate(member, states);
        }
        else
        {
            Members.Remove(member);
        }
    }

    private static List<Measurement<T>> Read<T>(Func<PartitionState, T> value)
        where T : struct
    {
        var measurements = new List<Measurement<T>>();
        foreach (var state in Members.SelectMany(member => member.Value))
        {
            measurements.Add(new Measurement<T>(
                value(state),
                new(MessagingMetrics.Destination, state.Topic),
                new(MessagingMetrics.Partition, state.Number.ToString(CultureInfo.InvariantCulture))));
        }
        return measurements;
    }
}
