using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Kafka;

/// <summary>Finds an installed Apache Kafka and an installed Java to run it.</summary>
public static class KafkaPrograms
{
    /// <summary>The environment variable in which <c>./billing</c> passes the folder that contains Kafka's
    /// <c>libs</c>.</summary>
    public const string HomeVariable = "BILLING_KAFKA_HOME";

    /// <summary>The version that <c>./billing</c> fetches.</summary>
    public const string Version = "4.1.0";

    private const string UsualHomeVariable = "KAFKA_HOME";

    /// <summary>
    /// Finds the folder that contains Kafka's jars in <c>libs</c>: the one in <see cref="HomeVariable"/>, the one in
    /// KAFKA_HOME, or the one in the cache of <c>./billing</c>.</summary>
    /// <param name="variable">Reads an environment variable; null for those of this process.</param>
    /// <returns>The folder, or null if there is none.</returns>
    public static string? FindHome(Func<string, string?>? variable = null) =>
        CandidateHomes(variable ?? Environment.GetEnvironmentVariable).FirstOrDefault(IsHome);

    /// <summary>Finds the Java to use: the one in JAVA_HOME, else the one on the PATH.</summary>
    /// <returns>Its path, or null if there is none.</returns>
    public static string? FindJava() =>
        (Environment.GetEnvironmentVariable("JAVA_HOME") is { Length: > 0 } home
            ? Tool.Find("java", Path.Combine(home, "bin"))
            : null)
        ?? Tool.Find("java");

    /// <summary>Fails if Kafka or Java is not installed on this machine.</summary>
    /// <param name="what">The program and why it needs Kafka; the start of the message.</param>
    /// <exception cref="StackException">Kafka or Java is not installed.</exception>
    public static void Require(string what)
    {
        if (FindHome() is null || FindJava() is null)
        {
            throw new StackException(
                what
                + ", but Kafka or Java is not installed: set KAFKA_HOME to Kafka's folder or BILLING_KAFKA_ARCHIVE to "
                + "its archive, and start with ./billing");
        }
    }

    private static IEnumerable<string?> CandidateHomes(Func<string, string?> variable)
    {
        yield return variable(HomeVariable);
        yield return variable(UsualHomeVariable);
        yield return InCache(variable("BILLING_CACHE"));
        yield return InCache(variable("XDG_CACHE_HOME"), "billing");
        yield return InCache(variable("HOME"), ".cache", "billing");
    }

    private static string? InCache(string? root, params string[] folders) =>
        string.IsNullOrEmpty(root) ? null : Path.Combine([root, .. folders, "kafka-" + Version]);

    /// <summary>Whether a folder contains Kafka's jars in <c>libs</c>.</summary>
    public static bool IsHome(string? folder) =>
        !string.IsNullOrEmpty(folder) && Directory.Exists(Path.Combine(folder, "libs")) &&
        Directory.EnumerateFiles(Path.Combine(folder, "libs"), "kafka-server-*.jar").Any();
}
