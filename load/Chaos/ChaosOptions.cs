using System.Collections.Frozen;
using Billing.Chaos.Faults;
using Billing.Chaos.Network;
using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.Chaos;

/// <summary>The options of a soak.</summary>
public sealed record ChaosOptions
{
    /// <summary>The seed of the faults, and of the accounts and amounts of the traffic.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>The time during which faults are injected.</summary>
    public TimeSpan Duration { get; init; } = TimeSpan.FromMinutes(5);

    /// <summary>Number of workers, each with one request at a time.</summary>
    public int Workers { get; init; } = 64;

    /// <summary>Maximum payments per second of all workers together.</summary>
    public int Rate { get; init; } = 300;

    /// <summary>The stack on which the soak runs.</summary>
    public StackOptions Stack { get; init; } = new();

    /// <summary>The networks that can be cut; null if none can.</summary>
    public StackNetwork? Network { get; init; }

    /// <summary>The folder of the programs of another release, which the services change over to and back; null if
    /// there is none.</summary>
    public string? OtherPrograms { get; init; }

    /// <summary>The targets of the faults. With TLS no clock is wrong: no certificate is valid a year ago.</summary>
    public FaultTargets Targets => new(
        Stack.Proxies, Stack.PaymentBackends, Stack.BalanceBackends, Stack.Brokers, Stack.MayLosePower, Stack.MayBeSlow,
        Network is not null, Stack.PostgresReplicas > 1, PreloadedLibrary.Missing is null && !Stack.Secured,
        Stack.Databases);

    /// <summary>Settings of a card network that is faster than the billing prototype's, so that a soak of minutes makes
    /// many payments, and still slow enough that payments are in flight when a process is killed.</summary>
    public static IReadOnlyDictionary<string, string> ShortJitter { get; } = new Dictionary<string, string>
    {
        ["Billing__Jitter__PaymentMin"] = "00:00:00.010",
        ["Billing__Jitter__PaymentMax"] = "00:00:00.200",
        ["Billing__Jitter__BalanceMin"] = "00:00:00.010",
        ["Billing__Jitter__BalanceMax"] = "00:00:00.100",
    }.ToFrozenDictionary();

    /// <summary>Whether nobody else pays on the stack: then every recorded payment must be in a journal.</summary>
    public bool IsAlone { get; init; } = true;
}
