namespace Billing.Chaos.Faults;

/// <summary>The kind of a fault that a soak injects into the stack.</summary>
public enum FaultKind
{
    /// <summary>kill -9.</summary>
    KillPaymentBackend,

    /// <summary>kill -9.</summary>
    KillBalanceBackend,

    /// <summary>kill -9.</summary>
    KillProxy,

    /// <summary>SIGSTOP for longer than its session timeout: its partitions are reassigned, and it resumes
    /// as a stale owner.</summary>
    FreezePaymentBackend,

    /// <summary>A short SIGSTOP.</summary>
    FreezeProxy,

    /// <summary>SIGTERM, as in a rolling restart.</summary>
    RestartPaymentBackend,

    /// <summary>SIGTERM, as in a rolling restart.</summary>
    RestartBalanceBackend,

    /// <summary>SIGTERM, as in a rolling restart.</summary>
    RestartProxy,

    /// <summary>kill -9.</summary>
    KillBroker,

    /// <summary>The server stops immediately, without a checkpoint, and recovers when it is started again.</summary>
    CrashPostgres,

    /// <summary>SIGSTOP of the server and all its sessions: connections stay open, but nothing is answered.</summary>
    FreezePostgres,

    /// <summary>The first payment backend cannot reach the brokers.</summary>
    CutFromBrokers,

    /// <summary>What the brokers answer the first payment backend does not arrive; what it sends does.</summary>
    CutFromAnswers,

    /// <summary>The connections of the first payment backend to the brokers come and go.</summary>
    FlappingNetwork,

    /// <summary>The first payment backend cannot reach PostgreSQL: transactions begun there stay open.</summary>
    CutFromPostgres,

    /// <summary>Each sync of PostgreSQL to its disk takes seconds.</summary>
    SlowPostgres,

    /// <summary>kill -9 of PostgreSQL while its sessions wait for a disk that does not answer.</summary>
    KillSlowPostgres,

    /// <summary>SIGSTOP of a broker for longer than its session with the controllers: others lead its partitions,
    /// and it resumes as a stale leader.</summary>
    FreezeBroker,

    /// <summary>All brokers and PostgreSQL lose their power at once, and what they have not
    /// synced to their disks.</summary>
    LosePower,

    /// <summary>Garbage, oversized, wrong-version and forged records on the request topics.</summary>
    BadRecords,

    /// <summary>The primary of several PostgreSQL servers ends at once, and its data is deleted:
    /// the standby takes over, and an empty server joins it.</summary>
    BurnPrimary,

    /// <summary>The standby ends at once, and its data is deleted.</summary>
    BurnStandby,

    /// <summary>SIGSTOP of the primary, its sessions and its Patroni for longer than its lock: the standby takes over,
    /// and the primary resumes as a stale one.</summary>
    FreezePrimary,

    /// <summary>kill -9 of the primary's Patroni: nobody stops the primary when it has lost its lock.</summary>
    KillPatroni,

    /// <summary>kill -9 of etcd.</summary>
    KillEtcd,

    /// <summary>The topic of one payment type is deleted and created again: the commands in it are lost.</summary>
    MakeTopicAgain,

    /// <summary>The topic of one payment type gets one more partition: accounts move to other partitions.</summary>
    AddPartition,

    /// <summary>While no payment backend runs, their group's offsets of one topic are deleted.</summary>
    LoseOffsets,

    /// <summary>While no payment backend runs, their group's offsets of one topic go back.</summary>
    MoveOffsetsBack,

    /// <summary>While no payment backend runs, their group's offsets of one topic are moved past its end.</summary>
    MoveOffsetsPastEnd,

    /// <summary>kill -9 of a payment backend, and again whenever it is ready, while the others serve.</summary>
    CrashLoop,

    /// <summary>SIGTERM of each service, one after the other, as an upgrade and its rollback do; each starts with the
    /// other release, if there is one.</summary>
    RestartAll,

    /// <summary>One service is restarted with a clock that is off by an hour, days or a year, ahead or behind, for the
    /// rest of the soak. There is no second one: the time that most clocks agree on is right.</summary>
    SetClockWrong,

    /// <summary>The first proxy cannot reach the brokers.</summary>
    CutProxyFromBrokers,

    /// <summary>What the brokers answer the first proxy does not arrive; what it sends does.</summary>
    CutProxyFromAnswers,

    /// <summary>The first balance backend cannot reach the brokers.</summary>
    CutBalanceBackendFromBrokers,

    /// <summary>What the brokers answer the first balance backend does not arrive; what it sends does.</summary>
    CutBalanceBackendFromAnswers,

    /// <summary>The other brokers cannot reach one: they do not replicate what it leads,
    /// and clients still reach it.</summary>
    CutBroker,

    /// <summary>What a broker answers the other brokers does not arrive; what they send does.</summary>
    CutBrokerAnswers,

    /// <summary>Each sync of a broker to its disk takes seconds.</summary>
    SlowBroker,

    /// <summary>A broker ends at once, and its disk is replaced by an empty one.</summary>
    BurnBroker,

    /// <summary>Bits of what a broker stores change while it serves (<see cref="RottenDisk"/>), until its disk is
    /// replaced by an empty one; the payment backends are killed as it begins.</summary>
    RotBroker,

    /// <summary>The PostgreSQL servers cannot reach each other; clients reach both.</summary>
    CutStandby,
}

/// <summary>The properties of a kind of fault.</summary>
/// <param name="Name">Its name as text for the console.</param>
/// <param name="Pool">The pool from which the target is chosen.</param>
/// <param name="ShortestMs">Its minimum duration in milliseconds; for a kill, the time until the restart.</param>
/// <param name="LongestMs">Its maximum duration in milliseconds.</param>
/// <param name="TargetSeconds">The maximum service interruption that it should cause, in seconds;
/// null if there is no target.</param>
public sealed record FaultProfile(string Name, FaultPool Pool, int ShortestMs, int LongestMs, int? TargetSeconds)
{
    /// <summary>How many times it may occur in a soak.</summary>
    public int TimesMax { get; init; } = int.MaxValue;

    /// <summary>Whether it cuts connections of the first service of a pool, the only one whose network can be cut.
    /// </summary>
    public static bool IsOfNetwork(FaultKind kind) => kind is FaultKind.CutFromBrokers or FaultKind.CutFromAnswers
        or FaultKind.FlappingNetwork or FaultKind.CutFromPostgres
        or FaultKind.CutProxyFromBrokers or FaultKind.CutProxyFromAnswers
        or FaultKind.CutBalanceBackendFromBrokers or FaultKind.CutBalanceBackendFromAnswers;

    /// <summary>Whether it cuts connections between servers of one cluster.</summary>
    public static bool IsBetweenServers(FaultKind kind) =>
        kind is FaultKind.CutBroker or FaultKind.CutBrokerAnswers or FaultKind.CutStandby;

    /// <summary>Whether it needs several PostgreSQL servers.</summary>
    public static bool IsOfReplicas(FaultKind kind) => kind is FaultKind.BurnPrimary or FaultKind.BurnStandby
        or FaultKind.FreezePrimary or FaultKind.KillPatroni or FaultKind.KillEtcd or FaultKind.CutStandby;

    /// <summary>Whether it changes the offsets of the payment backends' group.</summary>
    public static bool IsOfOffsets(FaultKind kind) =>
        kind is FaultKind.LoseOffsets or FaultKind.MoveOffsetsBack or FaultKind.MoveOffsetsPastEnd;

    /// <summary>Whether it deletes commands that the brokers have acknowledged.</summary>
    public static bool DeletesCommands(FaultKind kind) => kind is FaultKind.LosePower or FaultKind.MakeTopicAgain;

    /// <summary>Returns the profile of a kind.</summary>
    public static FaultProfile Of(FaultKind kind) => kind switch
    {
        FaultKind.KillPaymentBackend => new("kill -9 payment backend", FaultPool.PaymentBackends, 500, 3000, 6),
        FaultKind.KillBalanceBackend => new("kill -9 balance backend", FaultPool.BalanceBackends, 500, 3000, 6),
        FaultKind.KillProxy => new("kill -9 proxy", FaultPool.Proxies, 500, 3000, null),
        FaultKind.FreezePaymentBackend => new("freeze payment backend", FaultPool.PaymentBackends, 5000, 7000, null),
        FaultKind.FreezeProxy => new("freeze proxy", FaultPool.Proxies, 1000, 3000, null),
        FaultKind.RestartPaymentBackend => new("SIGTERM payment backend", FaultPool.PaymentBackends, 0, 0, null),
        FaultKind.RestartBalanceBackend => new("SIGTERM balance backend", FaultPool.BalanceBackends, 0, 0, null),
        FaultKind.RestartProxy => new("SIGTERM proxy", FaultPool.Proxies, 0, 0, null),
        FaultKind.KillBroker => new("kill -9 broker", FaultPool.Brokers, 4000, 8000, 10),
        FaultKind.CrashPostgres => new("crash PostgreSQL", FaultPool.Postgres, 500, 4000, null),
        FaultKind.FreezePostgres => new("freeze PostgreSQL", FaultPool.Postgres, 1000, 4000, null),
        FaultKind.CutFromBrokers =>
            new("payment backend cut off from brokers", FaultPool.PaymentBackends, 3000, 12_000, null),
        FaultKind.CutFromAnswers =>
            new("payment backend cut off from brokers' answers", FaultPool.PaymentBackends, 3000, 12_000, null),
        FaultKind.FlappingNetwork =>
            new("payment backend's network flapping", FaultPool.PaymentBackends, 4000, 10_000, null),
        FaultKind.CutFromPostgres =>
            new("payment backend cut off from PostgreSQL", FaultPool.PaymentBackends, 3000, 12_000, null),
        FaultKind.SlowPostgres => new("slow disk of PostgreSQL", FaultPool.Postgres, 3000, 8000, null),
        FaultKind.KillSlowPostgres => new("kill -9 PostgreSQL on a slow disk", FaultPool.Postgres, 2000, 8000, null),
        FaultKind.FreezeBroker => new("freeze broker", FaultPool.Brokers, 3000, 6000, null),
        FaultKind.LosePower => new("loss of power", FaultPool.Brokers, 500, 2000, null),
        FaultKind.BadRecords => new("bad records", FaultPool.None, 0, 0, null),
        FaultKind.BurnPrimary => new("burn primary with its disk", FaultPool.Postgres, 12_000, 18_000, 15),
        FaultKind.BurnStandby => new("burn standby with its disk", FaultPool.Postgres, 3000, 12_000, 15),
        FaultKind.FreezePrimary => new("freeze primary", FaultPool.Postgres, 11_000, 50_000, 15),
        FaultKind.KillPatroni => new("kill -9 Patroni of the primary", FaultPool.Postgres, 500, 14_000, null),
        FaultKind.KillEtcd => new("kill -9 etcd", FaultPool.Postgres, 1000, 14_000, null),
        FaultKind.MakeTopicAgain => new("delete and create topic", FaultPool.Topics, 0, 0, null),
        FaultKind.AddPartition => new("add a partition to topic", FaultPool.Topics, 0, 0, null) { TimesMax = 3 },
        FaultKind.LoseOffsets => new("lose the group's offsets of topic", FaultPool.Topics, 0, 0, null),
        FaultKind.MoveOffsetsBack => new("move back the group's offsets of topic", FaultPool.Topics, 0, 0, null),
        FaultKind.MoveOffsetsPastEnd => new("move past end the group's offsets of topic", FaultPool.Topics, 0, 0, null),
        FaultKind.CrashLoop => new("crash loop of payment backend", FaultPool.PaymentBackends, 15_000, 30_000, null),
        FaultKind.RestartAll => new("SIGTERM all services in turn", FaultPool.Services, 0, 0, null),
        FaultKind.SetClockWrong => new("wrong clock of service", FaultPool.Services, 0, 0, null) { TimesMax = 1 },
        FaultKind.CutProxyFromBrokers => new("proxy cut off from brokers", FaultPool.Proxies, 3000, 12_000, null),
        FaultKind.CutProxyFromAnswers =>
            new("proxy cut off from brokers' answers", FaultPool.Proxies, 3000, 12_000, null),
        FaultKind.CutBalanceBackendFromBrokers =>
            new("balance backend cut off from brokers", FaultPool.BalanceBackends, 3000, 12_000, null),
        FaultKind.CutBalanceBackendFromAnswers =>
            new("balance backend cut off from brokers' answers", FaultPool.BalanceBackends, 3000, 12_000, null),
        FaultKind.CutBroker => new("broker cut off from the others", FaultPool.Brokers, 3000, 8000, null),
        FaultKind.CutBrokerAnswers =>
            new("broker's answers to the others cut off", FaultPool.Brokers, 3000, 8000, null),
        FaultKind.SlowBroker => new("slow disk of broker", FaultPool.Brokers, 3000, 8000, null),
        FaultKind.BurnBroker => new("burn broker with its disk", FaultPool.Brokers, 4000, 8000, 10),
        FaultKind.RotBroker => new("rotten disk of broker", FaultPool.Brokers, 7000, 10_000, null),
        FaultKind.CutStandby =>
            new("primary and standby cut off from each other", FaultPool.Postgres, 3000, 14_000, null),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "There is no such fault."),
    };
}

/// <summary>A group of processes or topics from which the target of a fault is chosen.</summary>
public enum FaultPool
{
    /// <summary>No process.</summary>
    None,

    /// <summary>The proxies. At most one is down at a time, so that callers can always use another.</summary>
    Proxies,

    /// <summary>The payment backends.</summary>
    PaymentBackends,

    /// <summary>The balance backends.</summary>
    BalanceBackends,

    /// <summary>The brokers. At most one is down at a time, so that a majority remains.</summary>
    Brokers,

    /// <summary>The PostgreSQL server; several, with what lets one take over from the other.</summary>
    Postgres,

    /// <summary>The topics of payments, one for each payment type.</summary>
    Topics,

    /// <summary>All services, proxies first.</summary>
    Services,
}
