using System.Globalization;

namespace Billing.Misuse.Watching;

/// <summary>What became of a service during an attack.</summary>
/// <param name="Name">The name of its process.</param>
/// <param name="MemoryMax">What its unit lets it have, in bytes.</param>
/// <param name="Peak">The most that it had resident, in bytes.</param>
/// <param name="ExitCode">Its exit code; null if it runs.</param>
/// <param name="KernelKills">Number of its processes that the kernel ended for lack of memory.</param>
internal sealed record ServiceFacts(string Name, long MemoryMax, long Peak, int? ExitCode, long KernelKills);

/// <summary>What was seen of an attack.</summary>
/// <param name="Services">The services, the attacked proxy first.</param>
/// <param name="Before">What the proxy held before the attack; null if it did not say.</param>
/// <param name="After">What it held in the end; null if it did not say.</param>
/// <param name="Others">What other callers got during the attack.</param>
/// <param name="QuietP99Ms">The 99th percentile of others beside a program that only computes, in milliseconds.</param>
internal sealed record AttackFacts(
    IReadOnlyList<ServiceFacts> Services, Places? Before, Places? After, OthersFigures Others, double QuietP99Ms);

/// <summary>Judges an attack.</summary>
internal static class Verdict
{
    /// <summary>How many times as long as in quiet the 99th percentile of others may take.</summary>
    public const double SlowdownMax = 2;

    /// <summary>What must not be, one sentence each, whatever the machine; empty if all is well.</summary>
    public static IReadOnlyList<string> Harm(AttackFacts facts)
    {
        var harm = new List<string>();
        foreach (var service in facts.Services)
        {
            if (service.ExitCode is { } code)
            {
                harm.Add($"{service.Name} ended with exit code {code}");
            }
            if (service.KernelKills > 0)
            {
                harm.Add($"the kernel ended {service.Name} for lack of memory");
            }
            if (service.Peak >= service.MemoryMax)
            {
                harm.Add(Text(
                    $"{service.Name} had {service.Peak / 1e6:0} MB resident; its unit has {Max(service):0}"));
            }
        }
        if (facts.Others.Failed > 0)
        {
            var most = facts.Others.Failures.MaxBy(failure => failure.Value);
            harm.Add(Text($"{facts.Others.Failed} payments of others failed, most with {most.Key}"));
        }
        if (facts.Others.Answered == 0)
        {
            harm.Add("no payment of others was answered");
        }
        if (facts.Services.All(service => service.ExitCode is null) && !IsAtRest(facts))
        {
            harm.Add(
                $"the proxy holds {Text(facts.After)} after the attack, {Text(facts.Before)} before it");
        }
        return harm;
    }

    /// <summary>Whether others waited too long for their answers. That depends on the machine as well.</summary>
    public static string? Slowness(AttackFacts facts)
    {
        var p99 = OthersFigures.P99Ms(facts.Others);
        return p99 <= SlowdownMax * facts.QuietP99Ms ? null : Text(
            $"others' p99 was {p99:0.0} ms, more than {SlowdownMax} times the {facts.QuietP99Ms:0.0} ms in quiet");
    }

    private static double Max(ServiceFacts service) => service.MemoryMax / 1e6;

    private static bool IsAtRest(AttackFacts facts) => facts is { Before: { } before, After: { } after }
        && after.IsAtRest(before, RestPayments.ConnectionsMax);

    private static string Text(Places? places) =>
        places is null ? "what it does not say" : Text(
            $"{places.Used} places, {places.Connections} connections and {places.Bytes} bytes");

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
