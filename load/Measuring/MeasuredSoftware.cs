using System.Diagnostics;
using System.Reflection;
using System.Text.Json;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;

namespace Billing.Measuring;

/// <summary>The software that was measured, as JSON; the names are part of the interface.</summary>
/// <param name="Commit">The commit that the programs were built from; null if unknown.
/// Uncommitted changes are not included.</param>
/// <param name="Packages">The version of each package that a payment passes through.</param>
/// <param name="KafkaHere">The version of the Kafka on this machine, which local stacks start;
/// null if there is none.</param>
/// <param name="PostgresHere">The version of the PostgreSQL on this machine, as it prints it;
/// null if there is none.</param>
/// <param name="RuntimeSettings">The settings of the services' .NET runtime, from their files and from the
/// environment.</param>
internal sealed record MeasuredSoftware(
    string? Commit, IReadOnlyDictionary<string, string> Packages, string? KafkaHere, string? PostgresHere,
    IReadOnlyDictionary<string, string> RuntimeSettings)
{
    private static readonly string[] OnThePath =
        [
            "Confluent.Kafka", "Google.Protobuf", "Grpc.AspNetCore.Server", "Grpc.Core.Api",
            "Grpc.Net.Client", "librdkafka.redist", "Marten", "Npgsql",
        ];

    private static readonly string[] AboutSpeed =
    [
        "DOTNET_gc", "DOTNET_GC", "DOTNET_T", "DOTNET_ReadyToRun", "DOTNET_PROCESSOR",
    ];

    /// <summary>Describes the programs in the folder of this one.</summary>
    public static MeasuredSoftware This()
    {
        var backend = DotnetProgram.FileOf("Billing.Backends");
        return new MeasuredSoftware(
            CommitOf(typeof(MeasuredSoftware).Assembly), PackagesOf(Path.ChangeExtension(backend, ".deps.json")),
            Kafka(), Postgres(), SettingsOf(Path.ChangeExtension(backend, ".runtimeconfig.json")));
    }

    /// <summary>Reads from a program's .deps.json the packages that a payment passes through.</summary>
    internal static SortedDictionary<string, string> PackagesOf(string file)
    {
        var packages = new SortedDictionary<string, string>(StringComparer.Ordinal);
        foreach (var library in Members(file, "libraries"))
        {
            var (name, version) = (library.Name.Split('/')[0], library.Name.Split('/')[^1]);
            if (OnThePath.Contains(name))
            {
                packages[name] = version;
            }
        }
        return packages;
    }

    /// <summary>Reads the runtime settings in a program's .runtimeconfig.json and in the environment.</summary>
    internal static SortedDictionary<string, string> SettingsOf(string file)
    {
        var settings = new SortedDictionary<string, string>(StringComparer.Ordinal);
        foreach (var setting in Members(file, "runtimeOptions", "configProperties"))
        {
            if (setting.Name.StartsWith("System.GC.", StringComparison.Ordinal)
                || setting.Name.StartsWith("System.Runtime.Tiered", StringComparison.Ordinal)
                || setting.Name.StartsWith("System.Threading.", StringComparison.Ordinal))
            {
                settings[setting.Name] = setting.Value.ToString();
            }
        }
        foreach (System.Collections.DictionaryEntry variable in Environment.GetEnvironmentVariables())
        {
            if (variable.Key is string name && name.StartsWith("DOTNET_", StringComparison.Ordinal)
                && IsAboutSpeed(name))
            {
                settings[name] = variable.Value?.ToString() ?? "";
            }
        }
        foreach (var (name, value) in DotnetProgram.Settings)
        {
            settings[name] = value;
        }
        return settings;
    }

    private static bool IsAboutSpeed(string variable) =>
        AboutSpeed.Any(prefix => variable.StartsWith(prefix, StringComparison.Ordinal));

    private static string? CommitOf(Assembly assembly)
    {
        var version = assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()
            ?.InformationalVersion.Split('+');
        return version is [_, { Length: > 0 } commit] ? commit : null;
    }

    private static List<JsonProperty> Members(string file, params IEnumerable<string> path)
    {
        if (!File.Exists(file))
        {
            return [];
        }
        using var json = JsonDocument.Parse(File.ReadAllBytes(file));
        var element = json.RootElement.Clone();
        foreach (var name in path)
        {
            if (!element.TryGetProperty(name, out element))
            {
                return [];
            }
        }
        return [.. element.EnumerateObject()];
    }

    private static string? Kafka() =>
        KafkaPrograms.FindHome() is { } home
            ? Path.GetFileNameWithoutExtension(Directory.EnumerateFiles(
                Path.Combine(home, "libs"), "kafka-clients-*.jar").FirstOrDefault())?["kafka-clients-".Length..]
            : null;

    private static string? Postgres()
    {
        try
        {
            using var postgres = Process.Start(
                new ProcessStartInfo(Path.Combine(PostgresPrograms.FindFolder(), "postgres"), ["--version"])
                {
                    RedirectStandardOutput = true,
                })!;
            return postgres.StandardOutput.ReadToEnd().Trim();
        }
        catch (Exception e) when (e is StackException or System.ComponentModel.Win32Exception)
        {
            return null;
        }
    }
}
