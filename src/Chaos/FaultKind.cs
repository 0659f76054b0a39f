namespace Billing.Chaos;

/// <summary>What a soak does to the stack.</summary>
public enum FaultKind
{
    /// <summary>kill -9.</summary>
    KillPaymentBackend,

    /// <summary>kill -9.</summary>
    KillBalanceBackend,

    /// <summary>kill -9.</summary>
    KillProxy,

    /// <summary>SIGSTOP for longer than its session: its partitions move, and it wakes up as a stale owner.</summary>
    FreezePaymentBackend,

    /// <summary>SIGSTOP, shortly.</summary>
    FreezeProxy,

    /// <summary>SIGTERM, as in a rolling restart.</summary>
    RestartPaymentBackend,

    /// <summary>SIGTERM, as in a rolling restart.</summary>
    RestartBalanceBackend,

    /// <summary>SIGTERM, as in a rolling restart.</summary>
    RestartProxy,

    /// <summary>kill -9.</summary>
    KillBroker,

    /// <summary>The server stops at once, without a checkpoint, and recovers when it is started again.</summary>
    CrashPostgres,

    /// <summary>SIGSTOP of the server and all its sessions: connections stay open and answer nothing.</summary>
    FreezePostgres,

    /// <summary>Garbage, oversized, wrong-version and forged records on the request topics.</summary>
    BadRecords,
}

/// <summary>What is known of each kind of fault.</summary>
/// <param name="Name">As people read it.</param>
/// <param name="Pool">What has members of which one is chosen.</param>
/// <param name="ShortestMs">How long it lasts at least, in milliseconds; for what is killed, until it is started again.</param>
/// <param name="LongestMs">How long it lasts at most, in milliseconds.</param>
/// <param name="TargetSeconds">The service gap that it should stay below, in seconds; null where there is no promise.</param>
public sealed record FaultProfile(string Name, FaultPool Pool, int ShortestMs, int LongestMs, int? TargetSeconds)
{
    /// <summary>The profile of a kind.</summary>
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
        FaultKind.BadRecords => new("bad records", FaultPool.None, 0, 0, null),
        _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "There is no such fault."),
    };
}

/// <summary>What a fault strikes one of.</summary>
public enum FaultPool
{
    /// <summary>Nothing in particular.</summary>
    None,

    /// <summary>Of these, one at a time is away at most: callers always find another.</summary>
    Proxies,

    /// <summary>The write side.</summary>
    PaymentBackends,

    /// <summary>The read side.</summary>
    BalanceBackends,

    /// <summary>Of these, one at a time is away at most: a majority remains.</summary>
    Brokers,

    /// <summary>The one event store.</summary>
    Postgres,
}
