using System.Collections.Frozen;
using Billing.LocalStack;

namespace Billing.Chaos;

/// <summary>One soak.</summary>
public sealed record ChaosOptions
{
    /// <summary>Decides the faults, and the accounts and amounts of the traffic.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>How long faults go on.</summary>
    public TimeSpan Duration { get; init; } = TimeSpan.FromMinutes(3);

    /// <summary>Workers, each with one request at a time.</summary>
    public int Workers { get; init; } = 64;

    /// <summary>Payments per second at most, all workers together.</summary>
    public int Rate { get; init; } = 300;

    /// <summary>What to run it on.</summary>
    public StackOptions Stack { get; init; } = new();

    /// <summary>What there is to strike.</summary>
    public FaultTargets Targets => new(Stack.Proxies, Stack.PaymentBackends, Stack.BalanceBackends, Stack.Brokers);

    /// <summary>A card network that is quicker than the billing prototype's, so that a soak of minutes sees many payments,
    /// and still slow enough for a kill to meet payments in flight.</summary>
    public static IReadOnlyDictionary<string, string> ShortJitter { get; } = new Dictionary<string, string>
    {
        ["Billing__Jitter__PaymentMin"] = "00:00:00.010",
        ["Billing__Jitter__PaymentMax"] = "00:00:00.200",
        ["Billing__Jitter__BalanceMin"] = "00:00:00.010",
        ["Billing__Jitter__BalanceMax"] = "00:00:00.100",
    }.ToFrozenDictionary();
}
