using System.ComponentModel.DataAnnotations;
using System.Globalization;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.Hosting;

namespace Billing.Backends;

/// <summary>What a backend does and how much at a time; section <c>Billing:Backend</c>.</summary>
public sealed class BackendOptions : IRelatedSettings
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Backend";

    /// <summary>The fewest accounts that a view can hold.</summary>
    internal const int ViewAccountsMin = 3;

    /// <summary>The most accounts that a view can hold.</summary>
    internal const int ViewAccountsLimit = 100_000_000;

    /// <summary>The most accounts that the cache of a database can hold.</summary>
    internal const int CachedAccountsLimit = 10_000_000;

    /// <summary>Which requests the process serves over Kafka. With any other transport it serves both.</summary>
    public BackendRole? Role { get; set; }

    /// <summary>The most commands in one transaction. A batch is whatever has accumulated while the previous one was
    /// stored, so batches are small under a small load.</summary>
    [Range(1, 10_000)]
    public int BatchMax { get; set; } = 1000;

    /// <summary>The number of commands taken and not yet answered at which the backend pauses its partitions; it also
    /// does when they take too much of its memory. With jitter enabled, this bounds the number of concurrent
    /// card-network calls.</summary>
    [Range(1, 1_000_000)]
    public int InFlightMax { get; set; } = 50_000;

    /// <summary>The most accounts of each database kept in memory; 0 for as many as a fifth of the process's memory
    /// holds. The least recently used ones are dropped, and read again when needed.</summary>
    [Range(0, CachedAccountsLimit)]
    public int CachedAccountsMax { get; set; }

    /// <summary>The most accounts in the view of a balance backend, at least 3; 0 for as many as half of the process's
    /// memory holds. If there are more accounts, those used last are in it, and a check of any other reads the event
    /// store.</summary>
    [Range(0, ViewAccountsLimit)]
    public int ViewAccountsMax { get; set; }

    /// <summary>How long the event store may be unavailable before callers that have waited that long are answered
    /// UNAVAILABLE. Their commands stay in flight and may still be recorded; a retry with the same transaction id shows
    /// the result. By default longer than a standby takes to become the primary.</summary>
    [TimeRange("00:00:00", "1.00:00:00", MinimumIsExclusive = true)]
    public TimeSpan StoreUnavailableMax { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>The credit limit of an account for which none was set, by its currency (ISO 4217): an amount in units
    /// of the currency, zero to 10^15. Of a currency that is not listed it is zero.</summary>
    public Dictionary<string, string> OpeningLimits { get; set; } = new(StringComparer.Ordinal);

    /// <summary>How long a balance check with a min_version waits for the view to reach that version before the event
    /// store is read; at most one minute. It never waits longer than half of the time left to its deadline.</summary>
    [TimeRange("00:00:00", "00:01:00")]
    public TimeSpan MinVersionWait { get; set; } = TimeSpan.FromMilliseconds(500);

    /// <summary>How often payments with something on hold whose time is over are looked for;
    /// 10 ms to one hour.</summary>
    [TimeRange("00:00:00.010", "01:00:00")]
    public TimeSpan HoldExpiryInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>The most answers from the event store that are not acknowledged at the same time.</summary>
    internal int StoredAnswersMax { get; set; } = 100;

    /// <summary>One message for each value that its bounds allow and nothing can work with, naming it.</summary>
    internal IEnumerable<string> ValidationErrors()
    {
        foreach (var (currency, limit) in OpeningLimits)
        {
            if (ProblemOf(currency, limit) is { } problem)
            {
                yield return $"{Section}:{nameof(OpeningLimits)}:{currency} {problem}";
            }
        }
        if (ViewAccountsMax is > 0 and < ViewAccountsMin)
        {
            yield return $"{Section}:{nameof(ViewAccountsMax)} must be 0 or at least {ViewAccountsMin}; "
                + $"it is {Quantity.Text(ViewAccountsMax)}.";
        }
    }

    /// <summary>An account without events. The limits have to be valid.</summary>
    internal Account OpenedAccount() => Account.Opened(new OpeningLimits(OpeningLimits.ToDictionary(
        limit => limit.Key, limit => decimal.Parse(limit.Value, LimitStyle, CultureInfo.InvariantCulture))));

    /// <inheritdoc/>
    public IEnumerable<Rule> Rules()
    {
        yield return Rule.AtMost(
            Quantity.Of($"{Section}:{nameof(BatchMax)}", BatchMax),
            Quantity.Of($"{Section}:{nameof(InFlightMax)}", InFlightMax),
            "a batch could never fill");
    }

    private const NumberStyles LimitStyle = NumberStyles.AllowDecimalPoint | NumberStyles.AllowLeadingSign;

    private static string? ProblemOf(string currency, string text)
    {
        if (Currencies.DecimalsOf(currency) is not { } decimals)
        {
            return "is not for a currency of ISO 4217 that is in use, such as USD.";
        }
        return !decimal.TryParse(text, LimitStyle, CultureInfo.InvariantCulture, out var limit)
            || limit < 0 || limit > FieldRules.LimitUnitsMax
            ? string.Create(
                CultureInfo.InvariantCulture,
                $"must be a number between 0 and {FieldRules.LimitUnitsMax}; it is '{text}'.")
            : decimal.Round(limit, decimals) != limit
            ? $"must have at most {decimals} decimals, as {currency} has; it is '{text}'."
            : null;
    }
}

/// <summary>What a backend process serves.</summary>
public enum BackendRole
{
    /// <summary>The write side: commands that change accounts, and questions about payments.</summary>
    Payments,

    /// <summary>The read side: balances, accounts as they were, statements and transactions.</summary>
    Balances,
}
