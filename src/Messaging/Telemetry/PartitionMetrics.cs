using System.Diagnostics.Metrics;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace Billing.Messaging.Telemetry;

/// <summary>The progress of a member of a consumer group on one partition: the number of records on the brokers that it
/// has not read, the number from the first unsettled one on, and the seconds since the oldest unsettled one was read, 0
/// if there is none.</summary>
internal readonly record struct PartitionState(string Topic, int Number, long Lag, long Unsettled, double Age);

/// <summary>Gauges per partition. Each member reports the state of its partitions periodically, on its own thread,
/// so that reading the gauges never accesses a client that may be closing.</summary>
internal static class PartitionMetrics
{
    // Weak keys: the last report of a member that was not removed disappears with the member.
    private static readonly ConditionalWeakTable<object, PartitionState[]> Members = [];

    private static readonly Meter Meter = new(MessagingMetrics.MeterName);

    private static readonly ObservableGauge<long> Lag = Meter.CreateObservableGauge(
        "billing.kafka.consumer.lag", () => Read(state => state.Lag), "{record}",
        "Records on a partition that its consumer has not read yet.");

    private static readonly ObservableGauge<long> Unsettled = Meter.CreateObservableGauge(
        "billing.kafka.watermark.lag", () => Read(state => state.Unsettled), "{record}",
        "Records on a partition from the offset watermark on: those that a restart would read again and "
            + "those not yet read.");

    private static readonly ObservableGauge<double> Age = Meter.CreateObservableGauge(
        "billing.kafka.watermark.age", () => Read(state => state.Age), "s",
        "Time since the unsettled record at the offset watermark was read.");

    /// <summary>Whether any of the gauges is enabled.</summary>
    public static bool IsOn => Lag.Enabled || Unsettled.Enabled || Age.Enabled;

    /// <summary>Sets the state of the partitions of a member; one that leaves has none.</summary>
    public static void Set(object member, PartitionState[] states) => Members.AddOrUpdate(member, states);

    private static IEnumerable<Measurement<T>> Read<T>(Func<PartitionState, T> value)
        where T : struct =>
        from member in Members
        from state in member.Value
        select new Measurement<T>(
            value(state),
            new(MessagingMetrics.Destination, state.Topic),
            new(MessagingMetrics.Partition, state.Number.ToString(CultureInfo.InvariantCulture)));
}
