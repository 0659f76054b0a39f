using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Kafka;

/// <summary>What Java keeps of the classes that a broker loads (JEP 350, dynamic archives for class-data sharing).
/// With it a broker starts with half of the processor time, and needs 50 MB less.</summary>
public static class KafkaClassData
{
    private const string Write = "-XX:ArchiveClassesAtExit=";
    private static readonly TimeSpan StopBound = TimeSpan.FromMinutes(1);

    /// <summary>The file beside Kafka's <c>libs</c>. Its name tells one version of Java from another, which would not
    /// use it. An empty one belongs to a Java that writes none.</summary>
    public static FileInfo FileOf(KafkaInstallation installation)
    {
        var java = new FileInfo(installation.Java);
        var program = (java.ResolveLinkTarget(returnFinalTarget: true) ?? java).FullName;
        var modules = new FileInfo(Path.Combine(Path.GetDirectoryName(program)!, "..", "lib", "modules"));
        return new FileInfo(Path.Combine(
            installation.Home,
            $"classes-{(modules.Exists ? modules.Length : 0)}-{modules.LastWriteTimeUtc:yyyyMMddHHmmss}.jsa"));
    }

    /// <summary>Adds to Java's options that it uses the file, if there is one. Java does not read one
    /// while it writes one.</summary>
    internal static IEnumerable<string> Use(KafkaInstallation installation, IReadOnlyList<string> options) =>
        FileOf(installation) is { Exists: true, Length: > 0 } file
        && !options.Any(option => option.StartsWith(Write, StringComparison.Ordinal))
            ? ["-XX:SharedArchiveFile=" + file.FullName, .. options]
            : options;

    /// <summary>Has a broker that starts and stops write such a file.</summary>
    /// <exception cref="StackException">Kafka or Java is missing, or the broker does not start.</exception>
    public static async Task WriteAsync(string file, CancellationToken cancellationToken)
    {
        var written = file + ".new";
        File.Delete(written);
        await using var folder = StackFolder.Create();
        using var ports = new FreePorts();
        await using var kafka = await LocalKafka.StartNewAsync(
            folder, ports, javaOptions: [Write + written], cancellationToken: cancellationToken);
        var stopped = await kafka.Processes.Single().StopAsync(StopBound);
        if (!stopped || !File.Exists(written))
        {
            await File.WriteAllBytesAsync(written, [], cancellationToken);
        }
        // Java crashes on a file whose end was lost with the machine's power.
        using (var handle = File.OpenHandle(written))
        {
            RandomAccess.FlushToDisk(handle);
        }
        File.Move(written, file, overwrite: true);
    }
}
