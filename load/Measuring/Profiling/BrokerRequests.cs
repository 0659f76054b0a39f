using System.Globalization;
using System.Security.Cryptography;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Messaging.Telemetry;

namespace Billing.Measuring.Profiling;

/// <summary>What a broker has counted.</summary>
/// <param name="Requests">Requests by kind.</param>
/// <param name="Topics">What was written to each topic; those of the replies are taken together.</param>
internal sealed record BrokerCounts(IReadOnlyDictionary<string, double> Requests, IReadOnlyDictionary<string, TopicCounts> Topics)
{
    private const string RequestsName = "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=";
    private const string TopicsName = "kafka.server:type=BrokerTopicMetrics,name=";

    // Counted once more under these: those of consumers and those of followers apart.
    private const string AllFetches = "Fetch";

    /// <summary>Reads lines of the form <c>object name:Count=N</c>, as Kafka's JmxTool writes them; others are passed over.</summary>
    public static BrokerCounts Parse(IEnumerable<string> lines)
    {
        var requests = new SortedDictionary<string, double>(StringComparer.Ordinal);
        var topics = new SortedDictionary<string, TopicCounts>(StringComparer.Ordinal);
        foreach (var line in lines)
        {
            var at = line.LastIndexOf(":Count=", StringComparison.Ordinal);
            if (at < 0 || !double.TryParse(line.AsSpan(at + 7), NumberStyles.Float, CultureInfo.InvariantCulture, out var count))
            {
                continue;
            }
            if (line.StartsWith(RequestsName, StringComparison.Ordinal))
            {
                // Each version of a kind has a count of its own.
                var kind = line[RequestsName.Length..at].Split(',')[0];
                requests[kind] = requests.GetValueOrDefault(kind) + count;
            }
            else if (line.StartsWith(TopicsName, StringComparison.Ordinal) && line[TopicsName.Length..at].Split(",topic=") is [var metric, var topic])
            {
                var name = MessagingMetrics.NameOf(topic);
                topics[name] = topics.GetValueOrDefault(name, TopicCounts.None) + TopicCounts.Of(metric, count);
            }
        }
        requests.Remove(AllFetches);
        return new BrokerCounts(requests, topics);
    }

    /// <summary>What has been added since.</summary>
    public BrokerCounts Since(BrokerCounts before) => new(
        Changed(Requests.ToDictionary(r => r.Key, r => r.Value - before.Requests.GetValueOrDefault(r.Key)), count => count > 0),
        Changed(Topics.ToDictionary(t => t.Key, t => t.Value - before.Topics.GetValueOrDefault(t.Key, TopicCounts.None)), topic => topic.Records > 0));

    /// <summary>For one of so many payments.</summary>
    public BrokerCounts Per(double payments) => new(
        Changed(Requests.ToDictionary(r => r.Key, r => r.Value / payments), _ => true),
        Changed(Topics.ToDictionary(t => t.Key, t => new TopicCounts(t.Value.Records / payments, t.Value.Batches / payments, t.Value.Bytes / payments)), _ => true));

    private static SortedDictionary<string, T> Changed<T>(Dictionary<string, T> counts, Func<T, bool> keep) =>
        new(counts.Where(c => keep(c.Value)).ToDictionary(), StringComparer.Ordinal);
}

/// <summary>What was written to a topic.</summary>
/// <param name="Records">Records.</param>
/// <param name="Batches">Produce requests that brought some; librdkafka puts one batch into each. None for what the broker
/// writes itself.</param>
/// <param name="Bytes">Their bytes.</param>
internal sealed record TopicCounts(double Records, double Batches, double Bytes)
{
    public static TopicCounts None { get; } = new(0, 0, 0);

    /// <summary>Records in each batch; null where none came in requests.</summary>
    public double? RecordsInBatch => Batches > 0 ? Records / Batches : null;

    public static TopicCounts Of(string metric, double count) => metric switch
    {
        "MessagesInPerSec" => None with { Records = count },
        "TotalProduceRequestsPerSec" => None with { Batches = count },
        "BytesInPerSec" => None with { Bytes = count },
        _ => None,
    };

    public static TopicCounts operator +(TopicCounts one, TopicCounts other) =>
        new(one.Records + other.Records, one.Batches + other.Batches, one.Bytes + other.Bytes);

    public static TopicCounts operator -(TopicCounts now, TopicCounts before) =>
        new(now.Records - before.Records, now.Batches - before.Batches, now.Bytes - before.Bytes);
}

/// <summary>Reads the counts of a stack's one broker over JMX. The broker counts every request of every client, whoever made it,
/// and Kafka's own JmxTool, which lies beside it, reads them in half a second; librdkafka's statistics would take code in the
/// services, run while they are measured, and say nothing of what a request was to the broker.</summary>
internal sealed class BrokerRequests : IAsyncDisposable
{
    private const string User = "profile";
    private static readonly TimeSpan ReadBound = TimeSpan.FromSeconds(30);

    private readonly StackFolder _folder = StackFolder.Create();
    private readonly FreePorts _ports = new();
    private readonly string _password = RandomNumberGenerator.GetHexString(32, lowercase: true);
    private readonly KafkaInstallation _kafka;
    private readonly int _port;
    private int _reads;

    /// <exception cref="StackException">Kafka or Java is missing.</exception>
    public BrokerRequests()
    {
        KafkaPrograms.Require("profile counts requests at a Kafka broker of its own");
        _kafka = KafkaInstallation.Find();
        _port = _ports.Take();
        WriteForOwner("jmx.access", User + " readonly\n");
        WriteForOwner("jmx.password", $"{User} {_password}\n");
    }

    /// <summary>What the broker's Java virtual machine has to be told: whoever comes by this port must know the password, which
    /// those who list processes may see, and may only read.</summary>
    public IReadOnlyList<string> BrokerJavaOptions =>
    [
        "-Djava.rmi.server.hostname=127.0.0.1",
        .. new[]
        {
            "host=127.0.0.1", $"port={Port}", $"rmi.port={Port}", "ssl=false", "password.file=" + FileOf("jmx.password"), "access.file=" + FileOf("jmx.access"),
        }.Select(option => "-Dcom.sun.management.jmxremote." + option),
    ];

    private string Port => _port.ToString(CultureInfo.InvariantCulture);

    /// <summary>What the broker has counted by now.</summary>
    /// <exception cref="StackException">It does not say.</exception>
    public async Task<BrokerCounts> ReadAsync(CancellationToken cancellationToken)
    {
        var output = _folder.LogFile(string.Create(CultureInfo.InvariantCulture, $"counts-{++_reads}"));
        await ChildProcess.RunAsync(
            new ChildProcessStart("JmxTool", _kafka.Java,
            [
                "-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-cp", _kafka.Libraries, "org.apache.kafka.tools.JmxTool",
                "--jmx-url", $"service:jmx:rmi:///jndi/rmi://127.0.0.1:{Port}/jmxrmi", "--jmx-auth-prop", $"{User}={_password}",
                "--object-name", "kafka.network:type=RequestMetrics,name=RequestsPerSec,*",
                "--object-name", "kafka.server:type=BrokerTopicMetrics,name=*,topic=*",
                "--attributes", "Count", "--one-time", "--report-format", "properties",
            ], output),
            ReadBound, cancellationToken);
        var counts = BrokerCounts.Parse(await File.ReadAllLinesAsync(output, cancellationToken));
        return counts.Requests.Count > 0 ? counts : throw new StackException($"Kafka's JmxTool read no counts: {await File.ReadAllTextAsync(output, cancellationToken)}");
    }

    public async ValueTask DisposeAsync()
    {
        _ports.Dispose();
        await _folder.DisposeAsync();
    }

    private string FileOf(string name) => Path.Combine(_folder.FullName, name);

    // Java reads a password only from a file that nobody else may read.
    private void WriteForOwner(string name, string text)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        }
        using var file = new StreamWriter(FileOf(name), options);
        file.Write(text);
    }
}
