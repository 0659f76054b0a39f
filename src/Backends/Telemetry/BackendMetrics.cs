using System.Diagnostics;
using System.Diagnostics.Metrics;
using Billing.Backends.Writes;
using Billing.Messaging.Telemetry;

namespace Billing.Backends.Telemetry;

/// <summary>The metrics of backends. Timestamps are taken once for all commands of a batch, and an instrument without a
/// listener costs one comparison.</summary>
internal static class BackendMetrics
{
    public const string MeterName = "Billing.Backends";

    /// <summary>The outcome of a command for which nothing was recorded: it had expired, or does
    /// not fit the account.</summary>
    public const string Refused = "refused";

    /// <summary>The outcome of a command that could not be processed.</summary>
    public const string Failed = "failed";

    private static readonly Meter Meter = new(MeterName);

    public static readonly UpDownCounter<long> InFlight = Meter.CreateUpDownCounter<long>(
        "billing.commands.in_flight", "{command}", "Commands taken and not settled yet.");

    public static readonly UpDownCounter<long> SetAside = Meter.CreateUpDownCounter<long>(
        "billing.commands.set_aside", "{command}",
        "Commands that the event store cannot record at present, although it records others.");

    public static readonly UpDownCounter<long> CachedAccounts = Meter.CreateUpDownCounter<long>(
        "billing.account_cache.accounts", "{account}", "Accounts in the cache.");

    public static readonly UpDownCounter<long> ViewAccounts = Meter.CreateUpDownCounter<long>(
        "billing.balance_view.accounts", "{account}", "Accounts in the view of the balances.");

    public static readonly Counter<long> ViewGaps = Meter.CreateCounter<long>(
        "billing.balance_view.gaps", "{account}", "Accounts that missed an event and were read from the event store.");

    public static readonly Counter<long> ViewMisses = Meter.CreateCounter<long>(
        "billing.balance_view.misses", "{command}",
        "Balance checks of accounts that the view did not hold, answered from the event store.");

    private static readonly Counter<long> StoreRetries = Meter.CreateCounter<long>(
        "billing.event_store.retries", "{attempt}",
        "Retries because the event store was unavailable or the version of a stream had changed.");

    private static readonly Histogram<int> BatchSizes = Meter.CreateHistogram(
        "billing.batch.size", "{command}", "Commands recorded in one transaction.",
        advice: new InstrumentAdvice<int>
        {
            HistogramBucketBoundaries = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
        });

    private static readonly Histogram<double> BatchDurations = Meter.CreateHistogram(
        "billing.batch.duration", "s", "Time to decide and store a batch, including retries.", advice: Seconds());

    private static readonly Histogram<double> StepDurations = Meter.CreateHistogram(
        "billing.step.duration", "s",
        "Duration of a step: card_network and wait for each command, the others for each batch.", advice: Seconds());

    private static readonly Counter<long> Commands = Meter.CreateCounter<long>(
        "billing.commands", "{command}", "Commands that have their result, by outcome.");

    private static readonly Counter<long> Repeats = Meter.CreateCounter<long>(
        "billing.commands.repeated", "{command}",
        "Commands that were requested more than once: answered from a receipt, or joined to the one in flight.");

    private static readonly Counter<long> CacheRequests = Meter.CreateCounter<long>(
        "billing.account_cache.requests", "{request}", "Lookups of accounts in the cache, by result.");

    /// <summary>Reports zero for every counter, so that each time series exists from the start.</summary>
    /// <param name="databases">The names of the databases.</param>
    public static void Begin(IEnumerable<string> databases)
    {
        foreach (var outcome in (string[])[.. WriteKinds.Events.Select(kind => kind.Outcome), Refused, Failed])
        {
            CountOutcomes(outcome, 0);
        }
        Repeats.Add(0, FromReceipt);
        Repeats.Add(0, FromFlight);
        CountCacheLookups(0, 0);
        InFlight.Add(0);
        SetAside.Add(0);
        CachedAccounts.Add(0);
        ViewAccounts.Add(0);
        ViewGaps.Add(0);
        ViewMisses.Add(0);
        foreach (var database in databases)
        {
            StoreRetries.Add(0, Of(database));
        }
    }

    /// <summary>The current timestamp, for <see cref="Took"/> and <see cref="Recorded"/>;
    /// 0 if nobody listens.</summary>
    public static long Now => StepDurations.Enabled ? Stopwatch.GetTimestamp() : 0;

    /// <summary>Records the duration of one of the steps in docs/operations/observe.md, from a moment (0 if nobody
    /// listened then) until another (0 for now).</summary>
    public static void Took(string step, long since, long until = 0)
    {
        if (since != 0 && StepDurations.Enabled)
        {
            var elapsed = Stopwatch.GetElapsedTime(since, until != 0 ? until : Stopwatch.GetTimestamp());
            StepDurations.Record(elapsed.TotalSeconds, new KeyValuePair<string, object?>("billing.step", step));
        }
    }

    /// <summary>Records the size of a batch, and how long it took.</summary>
    public static void Recorded(string database, int commands, long since)
    {
        BatchSizes.Record(commands, Of(database));
        if (since != 0 && BatchDurations.Enabled)
        {
            BatchDurations.Record(Stopwatch.GetElapsedTime(since).TotalSeconds, Of(database));
        }
    }

    /// <summary>Counts an attempt after the first.</summary>
    public static void Retried(string database) => StoreRetries.Add(1, Of(database));

    public static void CountOutcomes(string outcome, int count) =>
        Commands.Add(count, new KeyValuePair<string, object?>("billing.outcome", outcome));

    /// <summary>Counts commands that were answered from the receipt of an earlier execution.</summary>
    public static void AnsweredFromReceipt(int count)
    {
        if (count > 0)
        {
            Repeats.Add(count, FromReceipt);
        }
    }

    /// <summary>Counts a command that is answered with the same command in flight.</summary>
    public static void Joined() => Repeats.Add(1, FromFlight);

    public static void CountCacheLookups(int hits, int misses)
    {
        CacheRequests.Add(hits, new KeyValuePair<string, object?>("billing.cache.result", "hit"));
        CacheRequests.Add(misses, new KeyValuePair<string, object?>("billing.cache.result", "miss"));
    }

    private static KeyValuePair<string, object?> Of(string database) => new("db.namespace", database);

    private static KeyValuePair<string, object?> FromReceipt => new("billing.repeat.answered_from", "receipt");

    private static KeyValuePair<string, object?> FromFlight => new("billing.repeat.answered_from", "in_flight");

    private static InstrumentAdvice<double> Seconds() =>
        new() { HistogramBucketBoundaries = MessagingMetrics.DurationBounds };
}
