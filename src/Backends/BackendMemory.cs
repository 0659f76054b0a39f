using System.Globalization;
using Billing.Hosting;
using Billing.Messaging;

namespace Billing.Backends;

/// <summary>How a backend divides its memory among what grows with what others send. What things take is measured by
/// MemoryOfBackendsTests, for the largest that callers can make; it fails if that is more.</summary>
internal static class BackendMemory
{
    /// <summary>What an account takes in the view of a balance backend, in bytes.</summary>
    public const int ViewedAccountBytes = 448;

    /// <summary>What an account takes in the cache of a payment backend, in bytes.</summary>
    public const int CachedAccountBytes = 512;

    /// <summary>What a command that changes an account takes beside its contents, in bytes: its record, delivery and
    /// entries among those in flight, and at last its event and the record that publishes that.</summary>
    public const int WriteBytes = 2304;

    /// <summary>How often the contents of such a command are in memory: as bytes and as texts of the command and of its
    /// event.</summary>
    public const int WriteCopies = 5;

    /// <summary>What a command that reads an account takes beside its contents, in bytes.</summary>
    public const int ReadBytes = 1280;

    /// <summary>How often the contents of such a command are in memory.</summary>
    public const int ReadCopies = 3;

    /// <summary>What an answer from the event store takes, in bytes: at most a page of a statement, as objects, texts
    /// and bytes.</summary>
    public const int StoredAnswerBytes = 416 * 1024;

    private const int ViewPercent = 50;
    private const int CachePercent = 20;
    private const int WritesPercent = 35;
    private const int ReadsPercent = 10;
    private const int StoredAnswersPercent = 6;

    /// <summary>The memory for the commands in flight.</summary>
    public static CommandMemory Commands(MemoryBudget budget, BackendRole? role) => role == BackendRole.Balances
        ? new CommandMemory(budget.Share(ReadsPercent), ReadBytes, ReadCopies)
        : new CommandMemory(budget.Share(WritesPercent), WriteBytes, WriteCopies);

    /// <summary>Replaces the settings that are zero by what the memory allows.</summary>
    /// <param name="options">The settings.</param>
    /// <param name="budget">The memory of the process.</param>
    /// <param name="databases">The databases of the event store.</param>
    public static void Derive(BackendOptions options, MemoryBudget budget, int databases)
    {
        if (options.ViewAccountsMax == 0)
        {
            options.ViewAccountsMax = ViewedAccounts(options.Role, budget);
        }
        if (options.CachedAccountsMax == 0)
        {
            options.CachedAccountsMax = CachedAccounts(options.Role, budget, databases);
        }
        options.StoredAnswersMax = budget.Fitting(
            Percent(options.Role, BackendRole.Balances, StoredAnswersPercent), StoredAnswerBytes, 10_000);
    }

    /// <summary>What was derived, for the log.</summary>
    public static string Describe(BackendOptions options, MemoryBudget budget, CommandMemory commands) =>
        options.Role == BackendRole.Balances
            ? string.Create(
                CultureInfo.InvariantCulture,
                $"the view holds at most {options.ViewAccountsMax} accounts ({Text(Viewed(options))}), requests in "
                + $"flight take {Text(commands.BytesMax)}, "
                + $"and answers from the event store {Text(budget.Share(StoredAnswersPercent))}")
            : string.Create(
                CultureInfo.InvariantCulture,
                $"at most {options.CachedAccountsMax} accounts of each database are cached ({Text(Cached(options))}), "
                + $"and commands in flight take {Text(commands.BytesMax)}");

    /// <summary>Why a setting is more than the memory allows; null if none is.</summary>
    /// <param name="options">The settings, after <see cref="Derive"/>.</param>
    /// <param name="budget">The memory of the process.</param>
    /// <param name="databases">The databases of the event store.</param>
    public static string? Excess(BackendOptions options, MemoryBudget budget, int databases) => options.Role switch
    {
        BackendRole.Balances when ViewedAccounts(options.Role, budget) is var allowed
            && options.ViewAccountsMax > allowed => Excess(
                nameof(BackendOptions.ViewAccountsMax), options.ViewAccountsMax, Viewed(options), budget, allowed),
        BackendRole.Payments when CachedAccounts(options.Role, budget, databases) is var allowed
            && options.CachedAccountsMax > allowed => Excess(
                nameof(BackendOptions.CachedAccountsMax), options.CachedAccountsMax, Cached(options) * databases,
                budget, allowed),
        _ => null,
    };

    private static string Excess(string setting, int value, long bytes, MemoryBudget budget, int allowed) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"{BackendOptions.Section}:{setting} is {value}, which may take {Text(bytes)} of {Text(budget.Bytes)}: "
            + $"the process may end for want of memory. 0 stands for what the memory allows, {allowed}.");

    private static int ViewedAccounts(BackendRole? role, MemoryBudget budget) => Math.Max(
        BackendOptions.ViewAccountsMin,
        budget.Fitting(
            Percent(role, BackendRole.Balances, ViewPercent), ViewedAccountBytes, BackendOptions.ViewAccountsLimit));

    private static int CachedAccounts(BackendRole? role, MemoryBudget budget, int databases) => budget.Fitting(
        Percent(role, BackendRole.Payments, CachePercent), CachedAccountBytes * databases,
        BackendOptions.CachedAccountsLimit);

    // A process without a role has both, and much else.
    private static int Percent(BackendRole? role, BackendRole of, int percent) =>
        role is null ? percent / 2 : role == of ? percent : 1;

    private static long Viewed(BackendOptions options) => (long)options.ViewAccountsMax * ViewedAccountBytes;

    private static long Cached(BackendOptions options) => (long)options.CachedAccountsMax * CachedAccountBytes;

    private static string Text(long bytes) => MemoryBudget.Text(bytes);
}
