using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Kafka;

/// <summary>Finds an installed Apache Kafka and the Java to run it.</summary>
public static class KafkaPrograms
{
    /// <summary>The variable by which <c>./billing</c> names the folder that holds Kafka's <c>libs</c>.</summary>
    public const string HomeVariable = "BILLING_KAFKA_HOME";

    private const string UsualHomeVariable = "KAFKA_HOME";
    private const string CachedFolder = "kafka-4.1.0";

    /// <summary>
    /// The folder that holds Kafka's jars in <c>libs</c>: named by <see cref="HomeVariable"/>, by KAFKA_HOME, or the
    /// one <c>./billing</c> keeps in its cache.
    /// </summary>
    /// <returns>The folder, or null when there is no Kafka.</returns>
    public static string? FindHome() => CandidateHomes().FirstOrDefault(IsHome);

    /// <summary>The Java to use: JAVA_HOME's, else the one on the PATH.</summary>
    /// <returns>Its path, or null when there is none.</returns>
    public static string? FindJava()
    {
        var folders = (Environment.GetEnvironmentVariable("PATH") ?? string.Empty).Split(Path.PathSeparator);
        if (Environment.GetEnvironmentVariable("JAVA_HOME") is { Length: > 0 } home)
        {
            folders = [Path.Combine(home, "bin"), .. folders];
        }

        return folders.Where(Path.IsPathRooted).Select(folder => Path.Combine(folder, "java"))
            .FirstOrDefault(File.Exists);
    }

    /// <summary>Refuses what cannot do without a Kafka of this machine's own.</summary>
    /// <param name="what">What it is and does; begins the message.</param>
    /// <exception cref="StackException">There is no Kafka, or no Java.</exception>
    public static void Require(string what)
    {
        if (FindHome() is null || FindJava() is null)
        {
            throw new StackException(
                what + ", and there is no Kafka, or no Java to run it: name Kafka's folder in KAFKA_HOME or its archive in BILLING_KAFKA_ARCHIVE, and start with ./billing");
        }
    }

    private static IEnumerable<string?> CandidateHomes()
    {
        yield return Environment.GetEnvironmentVariable(HomeVariable);
        yield return Environment.GetEnvironmentVariable(UsualHomeVariable);
        yield return InCache(Environment.GetEnvironmentVariable("BILLING_CACHE"));
        yield return InCache(Environment.GetEnvironmentVariable("XDG_CACHE_HOME"), "billing");
        yield return InCache(Environment.GetEnvironmentVariable("HOME"), ".cache", "billing");
    }

    private static string? InCache(string? root, params string[] folders) =>
        string.IsNullOrEmpty(root) ? null : Path.Combine([root, .. folders, CachedFolder]);

    private static bool IsHome(string? folder) =>
        !string.IsNullOrEmpty(folder) && Directory.Exists(Path.Combine(folder, "libs")) &&
        Directory.EnumerateFiles(Path.Combine(folder, "libs"), "kafka-server-*.jar").Any();
}
