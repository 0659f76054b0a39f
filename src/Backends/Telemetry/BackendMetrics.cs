using System.Diagnostics;
using System.Diagnostics.Metrics;
using Billing.Messaging.Telemetry;

namespace Billing.Backends.Telemetry;

/// <summary>The metrics of backends. Timestamps are taken once for all commands of a batch, tags are created once, and an
/// instrument without a listener costs one comparison.</summary>
internal static class BackendMetrics
{
    /// <summary>The meter's name.</summary>
    public const string MeterName = "Billing.Backends";

    private static readonly Meter Meter = new(MeterName);

    private static readonly Histogram<int> BatchSizes = Meter.CreateHistogram(
        "billing.batch.size", "{command}", "Commands recorded in one transaction.",
        advice: new InstrumentAdvice<int> { HistogramBucketBoundaries = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] });

    private static readonly Histogram<double> BatchDurations = Meter.CreateHistogram(
        "billing.batch.duration", "s", "Time to decide and store a batch, including retries.", advice: Seconds());

    private static readonly Histogram<double> StepDurations = Meter.CreateHistogram(
        "billing.step.duration", "s", "Duration of a step: card_network and wait for each command, the others for each batch.", advice: Seconds());

    private static readonly Counter<long> Commands = Meter.CreateCounter<long>(
        "billing.commands", "{command}", "Commands that have their result, by outcome.");

    private static readonly Counter<long> Repeats = Meter.CreateCounter<long>(
        "billing.commands.repeated", "{command}", "Commands that were requested more than once: answered from a receipt, or joined to the one in flight.");

    private static readonly UpDownCounter<long> InFlight = Meter.CreateUpDownCounter<long>(
        "billing.commands.in_flight", "{command}", "Commands taken and not settled yet.");

    private static readonly Counter<long> CacheRequests = Meter.CreateCounter<long>(
        "billing.account_cache.requests", "{request}", "Lookups of accounts in the cache, by result.");

    private static readonly UpDownCounter<long> CacheAccounts = Meter.CreateUpDownCounter<long>(
        "billing.account_cache.accounts", "{account}", "Accounts in the cache.");

    private static readonly UpDownCounter<long> ViewAccounts = Meter.CreateUpDownCounter<long>(
        "billing.balance_view.accounts", "{account}", "Accounts in the view of the balances.");

    private static readonly Counter<long> ViewGaps = Meter.CreateCounter<long>(
        "billing.balance_view.gaps", "{account}", "Accounts that missed an event and were read from the event store.");

    private static readonly Counter<long> StoreRetries = Meter.CreateCounter<long>(
        "billing.event_store.retries", "{attempt}", "Retries because the event store was unavailable or the version of a stream had changed.");

    /// <summary>Reports zero for every counter, so that each time series exists from the start.</summary>
    public static void Begin()
    {
        foreach (var outcome in (ReadOnlySpan<KeyValuePair<string, object?>>)
            [Outcomes.Accepted, Outcomes.Declined, Outcomes.LimitChanged, Outcomes.Refused, Outcomes.Failed])
        {
            Commands.Add(0, outcome);
        }
        Repeats.Add(0, Answered.FromReceipt);
        Repeats.Add(0, Answered.FromFlight);
        CountCacheLookups(0, 0);
        InFlight.Add(0);
        CacheAccounts.Add(0);
        ViewAccounts.Add(0);
        ViewGaps.Add(0);
        StoreRetries.Add(0);
    }

    /// <summary>The current timestamp, for <see cref="Took"/> and <see cref="Recorded"/>; 0 if nobody listens.</summary>
    public static long Now => StepDurations.Enabled ? Stopwatch.GetTimestamp() : 0;

    /// <summary>Records the duration of a step.</summary>
    /// <param name="step">One of <see cref="Steps"/>.</param>
    /// <param name="since">When it began; 0 if nobody listened.</param>
    /// <param name="until">When it ended; 0 for now.</param>
    public static void Took(in KeyValuePair<string, object?> step, long since, long until = 0)
    {
        if (since != 0 && StepDurations.Enabled)
        {
            StepDurations.Record(Stopwatch.GetElapsedTime(since, until != 0 ? until : Stopwatch.GetTimestamp()).TotalSeconds, step);
        }
    }

    /// <summary>Records the size and duration of a batch.</summary>
    public static void Recorded(int commands, long since)
    {
        BatchSizes.Record(commands);
        if (since != 0 && BatchDurations.Enabled)
        {
            BatchDurations.Record(Stopwatch.GetElapsedTime(since).TotalSeconds);
        }
    }

    /// <summary>Counts commands that have their result.</summary>
    public static void Ended(in KeyValuePair<string, object?> outcome, int count)
    {
        if (count > 0)
        {
            Commands.Add(count, outcome);
        }
    }

    /// <summary>Counts commands that were requested again.</summary>
    public static void Repeated(in KeyValuePair<string, object?> from, int count)
    {
        if (count > 0)
        {
            Repeats.Add(count, from);
        }
    }

    /// <summary>Adds to the commands in flight; negative when commands are settled.</summary>
    public static void Flight(int change) => InFlight.Add(change);

    /// <summary>Counts the cache hits and misses of a batch.</summary>
    public static void CountCacheLookups(int hits, int misses)
    {
        if (CacheRequests.Enabled)
        {
            CacheRequests.Add(hits, Hit);
            CacheRequests.Add(misses, Miss);
        }
    }

    /// <summary>Adds to the number of cached accounts; negative when the cache has shrunk.</summary>
    public static void Cached(int change) => CacheAccounts.Add(change);

    /// <summary>Adds to the number of accounts in the view.</summary>
    public static void Viewed(int change)
    {
        if (change != 0)
        {
            ViewAccounts.Add(change);
        }
    }

    /// <summary>Counts an account of the view that missed an event.</summary>
    public static void Gap() => ViewGaps.Add(1);

    /// <summary>Counts a retry of an access to the event store.</summary>
    public static void Retried() => StoreRetries.Add(1);

    private static readonly KeyValuePair<string, object?> Hit = new("billing.cache.result", "hit");
    private static readonly KeyValuePair<string, object?> Miss = new("billing.cache.result", "miss");

    private static InstrumentAdvice<double> Seconds() => new() { HistogramBucketBoundaries = MessagingMetrics.DurationBounds };

    /// <summary>The steps of <c>billing.step.duration</c>.</summary>
    public static class Steps
    {
        /// <summary>Looking up which commands have receipts.</summary>
        public static readonly KeyValuePair<string, object?> Receipts = Of("receipts");

        /// <summary>Waiting for the card network's answer about a command, if it is delayed.</summary>
        public static readonly KeyValuePair<string, object?> CardNetwork = Of("card_network");

        /// <summary>From consuming a command to deciding it.</summary>
        public static readonly KeyValuePair<string, object?> Wait = Of("wait");

        /// <summary>Reading the accounts that the cache does not have.</summary>
        public static readonly KeyValuePair<string, object?> Load = Of("load");

        /// <summary>The transaction that stores events and receipts.</summary>
        public static readonly KeyValuePair<string, object?> Append = Of("append");

        /// <summary>From handing over answers and events until the brokers have acknowledged them.</summary>
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

        /// <summary>Nothing was recorded: the command had expired, or does not fit the account.</summary>
        public static readonly KeyValuePair<string, object?> Refused = Of("refused");

        /// <summary>The command could not be processed.</summary>
        public static readonly KeyValuePair<string, object?> Failed = Of("failed");

        private static KeyValuePair<string, object?> Of(string outcome) => new("billing.outcome", outcome);
    }

    /// <summary>Where the answers to <c>billing.commands.repeated</c> came from.</summary>
    public static class Answered
    {
        /// <summary>From the receipt of an earlier execution.</summary>
        public static readonly KeyValuePair<string, object?> FromReceipt = new("billing.repeat.answered_from", "receipt");

        /// <summary>From the same command, which is in flight.</summary>
        public static readonly KeyValuePair<string, object?> FromFlight = new("billing.repeat.answered_from", "in_flight");
    }
}
