using System.Globalization;

namespace Billing.Simulation.Schedules;

/// <summary>The kind of a fault.</summary>
internal enum FaultKind
{
    /// <summary>A proxy is killed, and restarted after a while.</summary>
    CrashProxy,

    /// <summary>A payment backend is killed, and restarted after a while.</summary>
    CrashPayments,

    /// <summary>A balance backend is killed, and restarted after a while.</summary>
    CrashBalances,

    /// <summary>A payment backend is shut down gracefully, and restarted after a while.</summary>
    StopPayments,

    /// <summary>A balance backend is shut down gracefully, and restarted after a while.</summary>
    StopBalances,

    /// <summary>A payment backend is suspended for a while, and then continues.</summary>
    FreezePayments,

    /// <summary>A balance backend is suspended for a while, and then continues.</summary>
    FreezeBalances,

    /// <summary>A proxy is suspended for a while, and then continues.</summary>
    FreezeProxy,

    /// <summary>A partition of the payment backends is revoked from its owner.</summary>
    Rebalance,

    /// <summary>The group takes all partitions from a payment backend, as after missing heartbeats.</summary>
    EvictPayments,

    /// <summary>No broker can be reached for a while.</summary>
    BrokersAway,

    /// <summary>Records and acknowledgements have a high latency.</summary>
    BrokersSlow,

    /// <summary>A proxy's queue of unsent commands is full.</summary>
    ProxyQueueFull,

    /// <summary>A payment backend's queue of unsent events and replies is full.</summary>
    PaymentsQueueFull,

    /// <summary>The event topic loses its oldest records.</summary>
    EventsDeleted,

    /// <summary>A partition of a request topic starts again at offset 0, as if the topic had been deleted and
    /// recreated.</summary>
    RequestsStartAgain,

    /// <summary>Records are appended that no proxy would send.</summary>
    BadRecords,

    /// <summary>PostgreSQL cannot be reached.</summary>
    StoreAway,

    /// <summary>PostgreSQL refuses writes, as a replica does.</summary>
    StoreReadOnly,

    /// <summary>Connections may break before or after PostgreSQL has committed.</summary>
    StoreUnsure,

    /// <summary>PostgreSQL takes up to two seconds for every request.</summary>
    StoreSlow,

    /// <summary>Commits stall: their connections break, and seconds later they take effect or are rolled back.
    /// Until then they hold their locks.</summary>
    CommitsStall,

    /// <summary>The disk is damaged under the events of one account.</summary>
    AccountDamaged,

    /// <summary>As before, until long after all other faults are over: the other accounts must
    /// not wait for that.</summary>
    AccountDamagedForLong,

    /// <summary>The disk is damaged under a part of the receipts.</summary>
    ReceiptsDamaged,

    /// <summary>Half of the requests to PostgreSQL fail because of what others do:
    /// deadlocks, too many connections, a full disk.</summary>
    StoreBusy,

    /// <summary>A standby takes over: what was acknowledged is there, and of what was not a part.</summary>
    StoreFailover,

    /// <summary>All databases are restored to an earlier time, as long before as the fault lasts;
    /// what was acknowledged since is lost, and its versions are used again.</summary>
    StoreRestored,

    /// <summary>The clock of a database is wrong for the rest of the run.</summary>
    DatabaseClockOff,

    /// <summary>The shard of an account is moved to and fro.</summary>
    ShardShuttled,

    /// <summary>A payment backend is suspended between some two of its awaits while a shard is
    /// moved to and fro.</summary>
    FrozenWhileMoved,

    /// <summary>The clock of the machine of some process is wrong for the rest of the run.</summary>
    ClockOff,

    /// <summary>The clock of the broker that leads one partition of each topic is wrong for
    /// the rest of the run.</summary>
    BrokerClockOff,

    /// <summary>Settings of the backends are changed, and they are restarted one after the other.</summary>
    SettingsChanged,

    /// <summary>A payment backend crashes again and again soon after its start, long after all
    /// other faults are over.</summary>
    CrashLoop,

    /// <summary>A producer of a payment backend fails for good.</summary>
    ProducerFatal,

    /// <summary>A payment backend is an older release, which does not know one type of events,
    /// until it is upgraded.</summary>
    OlderRelease,

    /// <summary>A payment backend cannot reach PostgreSQL, and answers that were under way are lost.</summary>
    CutFromStore,

    /// <summary>A payment backend cannot reach the brokers, and does not learn that it loses its partitions.</summary>
    CutFromBrokers,

    /// <summary>The connection between a payment backend and the brokers comes and goes.</summary>
    FlappingFromBrokers,

    /// <summary>A payment backend is cut off from the brokers for ever, if there is another one;
    /// it still reaches PostgreSQL.</summary>
    Isolated,

    /// <summary>A proxy cannot reach the brokers: acknowledgements that were under way arrive late or never.</summary>
    CutProxy,

    /// <summary>A payment backend is suspended between some two of its awaits.</summary>
    FreezeAtStep,

    /// <summary>The machine of a payment backend is paused: its monotonic clock does not count that.</summary>
    MachinePaused,

    /// <summary>The wall clock of a payment backend is set by an hour, and back later.</summary>
    ClockStep,

    /// <summary>A request topic gets another partition.</summary>
    PartitionAdded,

    /// <summary>The leader of one partition of each topic answers slowly.</summary>
    LeaderSlow,

    /// <summary>The reply topic of a proxy cannot be written to.</summary>
    RepliesStuck,

    /// <summary>A topic of payments is deleted and created again while no payment backend runs.</summary>
    PaymentsMadeAgainUnseen,

    /// <summary>The group of the payment backends loses its offsets while none of them runs.</summary>
    OffsetsLost,

    /// <summary>The offsets of the group of the payment backends go back while none of them runs.</summary>
    OffsetsBack,

    /// <summary>The offsets of the group of the payment backends are past the ends of the logs while
    /// none of them runs.</summary>
    OffsetsPastEnd,

    /// <summary>A broker without the newest records of a topic of payments becomes its leader.</summary>
    PaymentsTruncated,

    /// <summary>As before, while no payment backend runs.</summary>
    PaymentsTruncatedUnseen,

    /// <summary>A webhook service is killed, and restarted after a while.</summary>
    CrashWebhooks,

    /// <summary>A webhook service is shut down gracefully, and restarted after a while.</summary>
    StopWebhooks,

    /// <summary>A webhook service is suspended for a while, and then continues.</summary>
    FreezeWebhooks,

    /// <summary>The machine of a webhook service is paused beyond the lease of what it delivers:
    /// its monotonic clock does not count that.</summary>
    PauseWebhooks,

    /// <summary>A webhook service cannot reach the brokers, and does not learn that it loses its partitions.</summary>
    CutWebhooksFromBrokers,

    /// <summary>A webhook service cannot reach its database, and answers that were under way are lost.</summary>
    CutWebhooksFromStore,

    /// <summary>The database of the webhook services fails in one of the ways in which the event store does.</summary>
    WebhookStoreFails,

    /// <summary>The offsets of the group of the webhook services are lost, go back, or are past the
    /// ends of the logs.</summary>
    WebhookOffsetsWrong,

    /// <summary>No receiver takes anything.</summary>
    ReceiversAway,

    /// <summary>Receivers take what they get, and half of their answers are lost.</summary>
    ReceiversUnsure,

    /// <summary>Receivers refuse the events of one account.</summary>
    ReceiversRefuse,
}

/// <summary>A fault.</summary>
/// <param name="AtMs">When it starts, in milliseconds from the start of the run.</param>
/// <param name="LastsMs">How long it lasts, in milliseconds.</param>
/// <param name="Kind">What it does.</param>
/// <param name="Target">The number of the process that it affects.</param>
internal sealed record Fault(int AtMs, int LastsMs, FaultKind Kind, int Target)
{
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{AtMs,6} ms  {Kind} {Target} for {LastsMs} ms");
}
