using Billing.LocalStack.Kafka;

namespace Billing.Cli.Release.Archives;

/// <summary>The archive of the brokers' jars, for any architecture.</summary>
internal sealed class KafkaArchive(string root, string home, DateTimeOffset time)
{
    public const string Pattern = "*.jar";

    /// <summary>Returns the folder of an installation that has the jars.</summary>
    public static string Jars(string home) => Path.Combine(home, "libs");

    public async Task PackAsync(string staging, string release, CancellationToken cancellationToken)
    {
        const string name = "kafka-" + KafkaPrograms.Version;
        var top = Directory.CreateDirectory(Path.Combine(staging, name));
        var libraries = top.CreateSubdirectory("libs");
        foreach (var jar in Directory.EnumerateFiles(Jars(home), Pattern))
        {
            Copy(jar, libraries);
        }
        // An installation with only jars has no licence file; Kafka's licence is the same as ours.
        Copy(Path.Combine(root, "LICENSE"), top);
        foreach (var file in ((string[])["LICENSE", "NOTICE"]).Select(file => Path.Combine(home, file))
            .Where(File.Exists))
        {
            Copy(file, top);
        }
        await Archive.PackAsync(staging, name, Path.Combine(release, name + ".tar.gz"), time, cancellationToken);
    }

    private static void Copy(string file, DirectoryInfo folder) =>
        File.Copy(file, Path.Combine(folder.FullName, Path.GetFileName(file)), overwrite: true);
}
