using System.Diagnostics.Metrics;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace Billing.Messaging.Telemetry;

/// <summary>How far a member of a consumer group is with one partition.</summary>
/// <param name="Topic">The topic.</param>
/// <param name="Number">The partition's number between it.</param>
/// <param name="Lag">Records on the brokers that it has not read.</param>
/// <param name="Unsettled">Records on the brokers from the first one that is not settled.</param>
/// <param name="Age">How long the oldest record that is read and not settled has been so, in seconds; 0 where there is none.
/// </param>
internal readonly record struct PartitionState(string Topic, int Number, long Lag, long Unsettled, double Age);

/// <summary>Gauges by partition. Each member says now and then how its partitions stand, on its own thread: whoever reads the
/// gauges never touches a client that may be closing.</summary>
internal static class PartitionMetrics
{
    // A member that is gone without a word is forgotten with what it said.
    private static readonly ConditionalWeakTable<object, PartitionState[]> Members = [];

    private static readonly Meter Meter = new(MessagingMetrics.MeterName);

    private static readonly ObservableGauge<long> Lag = Meter.CreateObservableGauge(
        "billing.kafka.consumer.lag", () => Read(state => state.Lag), "{record}", "Records on a partition that its consumer has not read yet.");

    private static readonly ObservableGauge<long> Unsettled = Meter.CreateObservableGauge(
        "billing.kafka.watermark.lag", () => Read(state => state.Unsettled), "{record}",
        "Records on a partition from the offset watermark on: what a restart would read again, and what is still to come.");

    private static readonly ObservableGauge<double> Age = Meter.CreateObservableGauge(
        "billing.kafka.watermark.age", () => Read(state => state.Age), "s",
        "How long the record at the offset watermark has been read and not settled.");

    /// <summary>Whether anybody reads the gauges.</summary>
    public static bool IsOn => Lag.Enabled || Unsettled.Enabled || Age.Enabled;

    /// <summary>Says how the partitions of a member stand; none takes it off the list.</summary>
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
        var measured = new List<Measurement<T>>();
        foreach (var state in Members.SelectMany(member => member.Value))
        {
            measured.Add(new Measurement<T>(
                value(state),
                new(MessagingMetrics.Destination, state.Topic),
                new(MessagingMetrics.Partition, state.Number.ToString(CultureInfo.InvariantCulture))));
        }
        return measured;
    }
}
