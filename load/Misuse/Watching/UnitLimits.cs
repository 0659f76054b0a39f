using System.Globalization;
using Billing.LocalStack;

namespace Billing.Misuse.Watching;

/// <summary>What the unit of a service, as it is shipped, lets it have.</summary>
/// <param name="MemoryMax">The most memory, in bytes; beyond it the kernel ends the service.</param>
/// <param name="Environment">The settings of the runtime.</param>
internal sealed record UnitLimits(long MemoryMax, IReadOnlyDictionary<string, string> Environment)
{
    private const string MemorySetting = "MemoryMax=";
    private const string EnvironmentSetting = "Environment=";

    /// <summary>The limits of the unit of a role.</summary>
    public static UnitLimits Of(ServiceRole role)
    {
        var unit = role switch
        {
            ServiceRole.Proxy => "billing-proxy",
            ServiceRole.Webhooks => "billing-webhooks",
            _ => "billing-backend",
        };
        var assembly = typeof(UnitLimits).Assembly;
        var name = assembly.GetManifestResourceNames()
            .Single(name => name.EndsWith(unit + ".service", StringComparison.Ordinal));
        using var text = new StreamReader(assembly.GetManifestResourceStream(name)!);
        return Parse(text.ReadToEnd());
    }

    /// <summary>Reads the limits of a unit.</summary>
    /// <exception cref="FormatException">It has no limit for memory, or one in another unit than K, M or G.</exception>
    public static UnitLimits Parse(string unit)
    {
        var lines = unit.Split('\n', StringSplitOptions.TrimEntries);
        var memory = lines.LastOrDefault(line => line.StartsWith(MemorySetting, StringComparison.Ordinal))
            ?? throw new FormatException($"The unit has no {MemorySetting}");
        var environment = lines.Where(line => line.StartsWith(EnvironmentSetting, StringComparison.Ordinal))
            .SelectMany(line => line[EnvironmentSetting.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries))
            .Select(setting => setting.Split('=', 2));
        return new UnitLimits(
            Bytes(memory[MemorySetting.Length..]),
            environment.ToDictionary(setting => setting[0], setting => setting[1], StringComparer.Ordinal));
    }

    // systemd's suffixes are powers of 1024 (systemd.resource-control).
    private static long Bytes(string text)
    {
        var shift = text.Length > 0 ? 10 * ("KMG".IndexOf(text[^1], StringComparison.Ordinal) + 1) : 0;
        return long.TryParse(
            shift > 0 ? text[..^1] : text, NumberStyles.None, CultureInfo.InvariantCulture, out var number)
            ? number << shift
            : throw new FormatException($"{MemorySetting}{text} is not a number of bytes, with K, M or G or without");
    }
}
