using System.Diagnostics;
using System.Diagnostics.Metrics;
using Billing.Messaging.Telemetry;

namespace Billing.Backends.Telemetry;

/// <summary>What backends measure. Each moment of a batch is taken once for all of its commands, tags are made once, and an
/// instrument that nobody listens to costs a comparison.</summary>
internal static class BackendMetrics
{
    /// <summary>The meter's name.</summary>
    public const string MeterName = "Billing.Backends";

    private static readonly Meter Meter = new(MeterName);

    private static readonly Histogram<int> BatchSizes = Meter.CreateHistogram(
        "billing.batch.size", "{command}", "Commands that were recorded by one transaction.",
        advice: new InstrumentAdvice<int> { HistogramBucketBoundaries = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] });

    private static readonly Histogram<double> BatchDurations = Meter.CreateHistogram(
        "billing.batch.duration", "s", "From having a batch until all of it is decided and stored, retries included.", advice: Seconds());

    private static readonly Histogram<double> StepDurations = Meter.CreateHistogram(
        "billing.step.duration", "s", "How long a step took: card_network and wait for each command, the others for each batch.", advice: Seconds());

    private static readonly Counter<long> Commands = Meter.CreateCounter<long>(
        "billing.commands", "{command}", "Commands that have their result, by what it is.");

    private static readonly Counter<long> Repeats = Meter.CreateCounter<long>(
        "billing.commands.repeated", "{command}", "Commands that were asked for more than once: answered from a receipt, or joined to the one in flight.");

    private static readonly UpDownCounter<long> InFlight = Meter.CreateUpDownCounter<long>(
        "billing.commands.in_flight", "{command}", "Commands taken and not settled yet.");

    private static readonly Counter<long> CacheRequests = Meter.CreateCounter<long>(
        "billing.account_cache.requests", "{request}", "Accounts that a batch asked the cache for, by whether it had them.");

    private static readonly UpDownCounter<long> CacheAccounts = Meter.CreateUpDownCounter<long>(
        "billing.account_cache.accounts", "{account}", "Accounts in the cache.");

    private static readonly UpDownCounter<long> ViewAccounts = Meter.CreateUpDownCounter<long>(
        "billing.balance_view.accounts", "{account}", "Accounts in the view of the balances.");

    private static readonly Counter<long> ViewGaps = Meter.CreateCounter<long>(
        "billing.balance_view.gaps", "{account}", "Accounts that missed an event and were read from the event store.");

    private static readonly Counter<long> StoreRetries = Meter.CreateCounter<long>(
        "billing.event_store.retries", "{attempt}", "What was tried again because the event store was away or a stream had moved on.");

    /// <summary>Begins to count: that nothing happened yet is a figure, too.</summary>
    public static void Begin()
    {
        foreach (var outcome in (ReadOnlySpan<KeyValuePair<string, object?>>)
            [Outcomes.Accepted, Outcomes.Declined, Outcomes.LimitChanged, Outcomes.Refused, Outcomes.Failed])
        {
            Commands.Add(0, outcome);
        }
        Repeats.Add(0, Answered.FromReceipt);
        Repeats.Add(0, Answered.FromFlight);
        AskedCache(0, 0);
        InFlight.Add(0);
        CacheAccounts.Add(0);
        ViewAccounts.Add(0);
        ViewGaps.Add(0);
        StoreRetries.Add(0);
    }

    /// <summary>A moment, for <see cref="Took"/> and <see cref="Recorded"/>.</summary>
    public static long Now => StepDurations.Enabled ? Stopwatch.GetTimestamp() : 0;

    /// <summary>A step is done.</summary>
    /// <param name="step">One of <see cref="Steps"/>.</param>
    /// <param name="since">When it began; 0 where nobody listened.</param>
    /// <param name="until">When it ended; 0 for now.</param>
    public static void Took(in KeyValuePair<string, object?> step, long since, long until = 0)
    {
        if (since != 0 && StepDurations.Enabled)
        {
            StepDurations.Record(Stopwatch.GetElapsedTime(since, until != 0 ? until : Stopwatch.GetTimestamp()).TotalSeconds, step);
        }
    }

    /// <summary>A batch is recorded.</summary>
    public static void Recorded(int commands, long since)
    {
        BatchSizes.Record(commands);
        if (since != 0 && BatchDurations.Enabled)
        {
            BatchDurations.Record(Stopwatch.GetElapsedTime(since).TotalSeconds);
        }
    }

    /// <summary>Commands have their result.</summary>
    public static void Ended(in KeyValuePair<string, object?> outcome, int count)
    {
        if (count > 0)
        {
            Commands.Add(count, outcome);
        }
    }

    /// <summary>Commands were asked for again.</summary>
    public static void Repeated(in KeyValuePair<string, object?> from, int count)
    {
        if (count > 0)
        {
            Repeats.Add(count, from);
        }
    }

    /// <summary>Commands were taken, or settled where the number is below zero.</summary>
    public static void Flight(int change) => InFlight.Add(change);

    /// <summary>A batch asked the cache for accounts.</summary>
    public static void AskedCache(int hits, int misses)
    {
        if (CacheRequests.Enabled)
        {
            CacheRequests.Add(hits, Hit);
            CacheRequests.Add(misses, Miss);
        }
    }

    /// <summary>The cache holds more accounts, or fewer where the number is below zero.</summary>
    public static void Cached(int change) => CacheAccounts.Add(change);

    /// <summary>The view holds more accounts.</summary>
    public static void Viewed(int change)
    {
        if (change != 0)
        {
            ViewAccounts.Add(change);
        }
    }

    /// <summary>An account of the view missed an event.</summary>
    public static void Gap() => ViewGaps.Add(1);

    /// <summary>The event store is asked again.</summary>
    public static void Retried() => StoreRetries.Add(1);

    private static readonly KeyValuePair<string, object?> Hit = new("billing.cache.result", "hit");
    private static readonly KeyValuePair<string, object?> Miss = new("billing.cache.result", "miss");

    private static InstrumentAdvice<double> Seconds() => new() { HistogramBucketBoundaries = MessagingMetrics.DurationBounds };

    /// <summary>The steps of <c>billing.step.duration</c>.</summary>
    public static class Steps
    {
        /// <summary>Looking up which commands have receipts.</summary>
        public static readonly KeyValuePair<string, object?> Receipts = Of("receipts");

        /// <summary>The card network's answer about a command, where it takes its time.</summary>
        public static readonly KeyValuePair<string, object?> CardNetwork = Of("card_network");

        /// <summary>From consuming a command to deciding it.</summary>
        public static readonly KeyValuePair<string, object?> Wait = Of("wait");

        /// <summary>Reading the accounts that the cache does not have.</summary>
        public static readonly KeyValuePair<string, object?> Load = Of("load");

        /// <summary>The transaction that stores events and receipts.</summary>
        public static readonly KeyValuePair<string, object?> Append = Of("append");

        /// <summary>From handing answers and events over until the brokers have them.</summary>
        public static readonly KeyValuePair<string, object?> Publish = Of("publish");

        private static KeyValuePair<string, object?> Of(string step) => new("billing.step", step);
    }

    /// <summary>The results of <c>billing.commands</c>.</summary>
    public static class Outcomes
    {
        /// <summary>A payment was accepted.</summary>
        public static readonly KeyValuePair<string, object?> Accepted = Of("accepted");

        /// <summary>A payment was declined.</summary>
        public static readonly KeyValuePair<string, object?> Declined = Of("declined");

        /// <summary>A credit limit was changed.</summary>
        public static readonly KeyValuePair<string, object?> LimitChanged = Of("limit_changed");

        /// <summary>Nothing was recorded: expired, or it does not fit the account.</summary>
        public static readonly KeyValuePair<string, object?> Refused = Of("refused");

        /// <summary>It could not be processed.</summary>
        public static readonly KeyValuePair<string, object?> Failed = Of("failed");

        private static KeyValuePair<string, object?> Of(string outcome) => new("billing.outcome", outcome);
    }

    /// <summary>Where the answers to <c>billing.commands.repeated</c> came from.</summary>
    public static class Answered
    {
        /// <summary>From what was recorded before.</summary>
        public static readonly KeyValuePair<string, object?> FromReceipt = new("billing.repeat.answered_from", "receipt");

        /// <summary>From the same command, which is on its way.</summary>
        public static readonly KeyValuePair<string, object?> FromFlight = new("billing.repeat.answered_from", "in_flight");
    }
}
