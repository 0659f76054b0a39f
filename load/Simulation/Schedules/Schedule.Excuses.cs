using Billing.Simulation.Store;

namespace Billing.Simulation.Schedules;

/// <content>What a schedule excuses.</content>
internal sealed partial record Schedule
{
    // From the end of a fault on, and by then every process works again and has tried what it left.
    private const int RecoveryMs = 10_000;

    // Until then shards are moved.
    private const int MovesUntilMs = 7_000;

    /// <summary>By how much a later owner of a partition may differ in what it takes to be expired; null if all clocks
    /// agree, or if only the event store has faults, so that partitions stay where they are.</summary>
    public TimeSpan? ClocksDiffer => PlatformFaults.All(fault => IsOfStore(fault.Kind)) ? null
        : Settings.IsSteady ? TimeSpan.FromSeconds(10)
        : Settings.ClockSkewMs > 0 ? TimeSpan.FromMilliseconds(2 * Settings.ClockSkewMs)
        : null;

    /// <summary>Whether something may have kept a payment from being executed until a moment: the faults, the moves,
    /// or that there is too much to do.</summary>
    public bool Excuses(long moment)
    {
        var ms = moment / TimeSpan.TicksPerMillisecond;
        return Settings.InFlightMax < Settings.InFlightUsual
            || (Settings.Databases > 1 && ms < MovesUntilMs + RecoveryMs)
            || PlatformFaults.Any(fault => LastsLong(fault.Kind) || ms < EndOf(fault) + RecoveryMs);
    }

    /// <summary>The faults of what decides and answers: those of webhooks excuse nothing there.</summary>
    public IEnumerable<Fault> PlatformFaults => Faults.Where(fault => fault.Kind < FaultKind.CrashWebhooks);

    /// <summary>Whether a receiver may get an event more often than it was published.
    /// An offset that could not be committed while no broker answered is read again by the next owner of the
    /// partition.</summary>
    public bool RepeatsWebhooks => Faults.Any(fault => fault.Kind is FaultKind.ClockOff or >= FaultKind.CrashWebhooks)
        || (Faults.Any(fault => fault.Kind == FaultKind.BrokersAway)
            && Faults.Any(fault => fault.Kind == FaultKind.PartitionAdded));

    /// <summary>Whether requests that the brokers have acknowledged may be lost.</summary>
    public bool MayLoseRequests => Faults.Any(fault => LosesRequests(fault.Kind));

    // A commit that stalled in the last moment holds its account beyond the fault.
    private static int EndOf(Fault fault) =>
        fault.AtMs + fault.LastsMs + (fault.Kind == FaultKind.CommitsStall ? StoreServer.LongestStallMs : 0);

    private static bool IsOfStore(FaultKind kind) =>
        kind is FaultKind.StoreAway or FaultKind.StoreReadOnly or FaultKind.StoreUnsure or FaultKind.StoreSlow
            or FaultKind.CommitsStall or FaultKind.AccountDamaged or FaultKind.ReceiptsDamaged or FaultKind.StoreBusy
            or FaultKind.StoreFailover
            or FaultKind.ShardShuttled;

    // Whose effects are not over when it is.
    private static bool LastsLong(FaultKind kind) => kind is FaultKind.AccountDamagedForLong or FaultKind.Isolated
        or FaultKind.CrashLoop or FaultKind.SettingsChanged || LosesRequests(kind);

    private static bool LosesRequests(FaultKind kind) =>
        kind is FaultKind.RequestsStartAgain or FaultKind.PaymentsMadeAgainUnseen
            or FaultKind.PaymentsTruncated or FaultKind.PaymentsTruncatedUnseen;
}
