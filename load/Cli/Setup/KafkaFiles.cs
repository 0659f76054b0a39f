using System.Security.Cryptography;
using System.Text.RegularExpressions;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Operator.Files;

namespace Billing.Cli.Setup;

/// <summary>Finds, unpacks or downloads the Kafka installation that brokers are started from.</summary>
internal sealed partial class KafkaFiles(SystemPrograms machine, string cache)
{
    private const string Archive = $"kafka_2.13-{KafkaPrograms.Version}.tgz";
    private const int OldestJava = 17;

    // A site that answers does so within seconds; offline, the main job must not wait for minutes.
    private static readonly TimeSpan ConnectBound = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan SilenceBound = TimeSpan.FromSeconds(20);

    private static readonly string[] Sites =
        [
            $"https://downloads.apache.org/kafka/{KafkaPrograms.Version}",
            $"https://archive.apache.org/dist/kafka/{KafkaPrograms.Version}",
        ];

    // An archive on this machine, or the address of a site that has it with the hash that it has published.
    private string? _source;
    private string? _published;

    public string? Home => KafkaPrograms.FindHome(machine.Variable);
    private string Cached => Path.Combine(cache, "kafka-" + KafkaPrograms.Version);

    /// <summary>Finds Kafka, or where to get it from, and records the programs needed for that.</summary>
    /// <returns>Whether there will be an installation.</returns>
    public async Task<bool> NeedAsync(Needs needs, CancellationToken cancellationToken)
    {
        if (machine.Variable("KAFKA_HOME") is { } home && !KafkaPrograms.IsHome(home))
        {
            throw new StackException($"KAFKA_HOME is {home}, which has no libs/kafka-server-*.jar");
        }
        if (Home is not null)
        {
            return true;
        }
        if (machine.Variable("BILLING_KAFKA_ARCHIVE") is { } archive)
        {
            if (!File.Exists(archive))
            {
                throw new StackException($"BILLING_KAFKA_ARCHIVE names {archive}, which does not exist");
            }
            if (Path.GetExtension(archive) is ".xz" or ".txz")
            {
                needs.Program("xz", "xz-utils", "to unpack Kafka");
            }
            _source = archive;
        }
        else
        {
            foreach (var site in Sites)
            {
                if (await PublishedHashAsync(site, cancellationToken) is { } published)
                {
                    (_source, _published) = (site, published);
                    break;
                }
            }
        }
        return _source is not null;
    }

    /// <summary>Records Java, if there is none that runs Kafka.</summary>
    public async Task NeedJavaAsync(Needs needs, CancellationToken cancellationToken)
    {
        var home = machine.Variable("JAVA_HOME");
        var java = home is null ? machine.Find("java") : Path.Combine(home, "bin", "java");
        if (java is not null && File.Exists(java) && await VersionOfAsync(java, cancellationToken) >= OldestJava)
        {
            return;
        }
        if (home is not null)
        {
            throw new StackException($"JAVA_HOME is {home}: Kafka needs Java {OldestJava} or newer");
        }
        needs.Add($"Java {OldestJava} or newer", "default-jre-headless", "to run Kafka");
    }

    /// <summary>Gets what was found.</summary>
    public async Task FetchAsync(CancellationToken cancellationToken)
    {
        if (_source is not null)
        {
            using var one = await FileLock.AcquireAsync(Cached + ".lock", cancellationToken);
            if (!KafkaPrograms.IsHome(Cached))
            {
                await UnpackSourceAsync(_source, cancellationToken);
            }
        }
        if (Home is null)
        {
            Messages.Say(
                "no Kafka found (KAFKA_HOME, BILLING_KAFKA_ARCHIVE, download): "
                + "using the embedded transport, in one process");
        }
    }

    /// <summary>Prepares brokers' quick start, once for each Java. An installation that the user named
    /// is left as it is.</summary>
    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        if (Home != Cached || KafkaClassData.FileOf(KafkaInstallation.Find()) is not { Exists: false } data)
        {
            return;
        }
        using var one = await FileLock.AcquireAsync(Cached + ".lock", cancellationToken);
        if (!File.Exists(data.FullName))
        {
            await Progress.WithClockAsync(
                "preparing Kafka for quick starts, once for this machine",
                () => KafkaClassData.WriteAsync(data.FullName, cancellationToken));
        }
    }

    private async Task UnpackSourceAsync(string source, CancellationToken cancellationToken)
    {
        await using var folder = TemporaryFolder.In(cache);
        var archive = File.Exists(source) ? source : folder.File(Archive);
        if (archive != source)
        {
            await Progress.WithClockAsync(
                $"downloading Kafka {KafkaPrograms.Version}, once for this machine",
                () => DownloadAsync(source, archive, cancellationToken));
        }
        var unpacked = Directory.CreateDirectory(folder.File("unpacked")).FullName;
        await Progress.RunAsync(
            $"unpacking Kafka {KafkaPrograms.Version}", folder.File("tar.log"), new Tool("tar"),
            ["-xf", archive, "-C", unpacked, "--no-same-owner"], $"{archive} cannot be unpacked", cancellationToken);
        // The official layout is one folder that holds libs; an archive of the jars has libs at the top.
        var home = new[] { unpacked }.Concat(Directory.EnumerateDirectories(unpacked))
            .FirstOrDefault(KafkaPrograms.IsHome)
            ?? throw new StackException(
                $"{archive} has no libs/kafka-server-*.jar, neither at the top level nor one folder below");
        if (Directory.Exists(Cached))
        {
            Directory.Delete(Cached, recursive: true);
        }
        Directory.Move(home, Cached);
    }

    // Published as "NAME: 8F3A 11C2 ...", over several lines.
    private static async Task<string?> PublishedHashAsync(string site, CancellationToken cancellationToken)
    {
        using var http = Client();
        http.Timeout = SilenceBound;
        try
        {
            var text = await http.GetStringAsync(new Uri($"{site}/{Archive}.sha512"), cancellationToken);
            return string.Concat(text[(text.IndexOf(':', StringComparison.Ordinal) + 1)..].Where(char.IsAsciiHexDigit));
        }
        catch (Exception e) when (e is HttpRequestException or TaskCanceledException
            && !cancellationToken.IsCancellationRequested)
        {
            return null;
        }
    }

    private async Task DownloadAsync(string site, string file, CancellationToken cancellationToken)
    {
        using var http = Client();
        http.Timeout = Timeout.InfiniteTimeSpan;
        try
        {
            await using (var to = File.Create(file))
            await using (var from = await http.GetStreamAsync(new Uri($"{site}/{Archive}"), cancellationToken))
            {
                await CopyAsync(from, to, cancellationToken);
            }
        }
        catch (HttpRequestException e)
        {
            throw new StackException($"{site}/{Archive} could not be downloaded: {e.Message}", e);
        }
        await using var downloaded = File.OpenRead(file);
        var hash = Convert.ToHexString(await SHA512.HashDataAsync(downloaded, cancellationToken));
        if (!string.Equals(hash, _published, StringComparison.OrdinalIgnoreCase))
        {
            throw new StackException($"{site}/{Archive} does not match its published SHA-512");
        }
    }

    private static async Task CopyAsync(Stream from, FileStream to, CancellationToken cancellationToken)
    {
        using var silence = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var buffer = new byte[1 << 16];
        try
        {
            while (true)
            {
                silence.CancelAfter(SilenceBound);
                var read = await from.ReadAsync(buffer, silence.Token);
                if (read == 0)
                {
                    return;
                }
                await to.WriteAsync(buffer.AsMemory(0, read), cancellationToken);
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new StackException(
                $"the download of {Archive} has stopped: nothing arrived for {SilenceBound.TotalSeconds} s");
        }
    }

    private static HttpClient Client() => new(new SocketsHttpHandler { ConnectTimeout = ConnectBound });

    private static async Task<int> VersionOfAsync(string java, CancellationToken cancellationToken)
    {
        // Java prints its version on standard error.
        var (_, output, errors) = await new Tool(java).TryAsync(["-XX:-UsePerfData", "-version"], cancellationToken);
        return JavaVersion().Match(errors + output) is { Success: true } match
            && int.TryParse(match.Groups[1].Value, out var version) ? version : 0;
    }

    [GeneratedRegex("version \"([0-9]{1,4})")]
    private static partial Regex JavaVersion();
}
