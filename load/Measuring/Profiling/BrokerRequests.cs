using System.Globalization;
using System.Security.Cryptography;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Messaging.Telemetry;

namespace Billing.Measuring.Profiling;

/// <summary>The counts of a broker.</summary>
/// <param name="Requests">Number of requests by kind.</param>
/// <param name="Topics">The writes to each topic; the reply topics are combined into one.</param>
internal sealed record BrokerCounts(IReadOnlyDictionary<string, double> Requests, IReadOnlyDictionary<string, TopicCounts> Topics)
{
    private const string RequestsName = "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=";
    private const string TopicsName = "kafka.server:type=BrokerTopicMetrics,name=";

    // The sum of the fetches of consumers and of followers, which are also counted separately.
    private const string AllFetches = "Fetch";

    /// <summary>Parses lines of the form <c>object name:Count=N</c>, as Kafka's JmxTool writes them; other lines are ignored.
    /// </summary>
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
                // Each version of a request kind has a count of its own.
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

    /// <summary>Returns the increase since earlier counts.</summary>
    public BrokerCounts Since(BrokerCounts before) => new(
        Changed(Requests.ToDictionary(r => r.Key, r => r.Value - before.Requests.GetValueOrDefault(r.Key)), count => count > 0),
        Changed(Topics.ToDictionary(t => t.Key, t => t.Value - before.Topics.GetValueOrDefault(t.Key, TopicCounts.None)), topic => topic.Records > 0));

    /// <summary>Divides by a number of payments.</summary>
    public BrokerCounts Per(double payments) => new(
        Changed(Requests.ToDictionary(r => r.Key, r => r.Value / payments), _ => true),
        Changed(Topics.ToDictionary(t => t.Key, t => new TopicCounts(t.Value.Records / payments, t.Value.Batches / payments, t.Value.Bytes / payments)), _ => true));

    private static SortedDictionary<string, T> Changed<T>(Dictionary<string, T> counts, Func<T, bool> keep) =>
        new(counts.Where(c => keep(c.Value)).ToDictionary(), StringComparer.Ordinal);
}

/// <summary>The writes to a topic.</summary>
/// <param name="Records">Number of records.</param>
/// <param name="Batches">Number of produce requests to the topic; librdkafka puts one batch into each. Zero for records that the
/// broker writes itself.</param>
/// <param name="Bytes">Number of bytes.</param>
internal sealed record TopicCounts(double Records, double Batches, double Bytes)
{
    public static TopicCounts None { get; } = new(0, 0, 0);

    /// <summary>Records per batch; null if there were no produce requests.</summary>
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

/// <summary>Reads the counts of a stack's only broker over JMX. The broker counts every request of every client, and Kafka's own
/// JmxTool reads the counts in half a second. librdkafka's statistics, of which
/// <see cref="ClientWaits"/> shows the waits, do not have the broker's view of the requests.</summary>
internal sealed class BrokerRequests : IAsyncDisposable
{
    private const string User = "profile";

    private readonly StackFolder _folder = StackFolder.Create();
    private readonly FreePorts _ports = new();
    private readonly string _password = RandomNumberGenerator.GetHexString(32, lowercase: true);
    private readonly KafkaInstallation _kafka;
    private readonly int _port;
    private int _reads;

    /// <exception cref="StackException">Kafka or Java is missing.</exception>
    public BrokerRequests()
    {
        KafkaPrograms.Require("profile counts the requests to a Kafka broker of its own");
        _kafka = KafkaInstallation.Find();
        _port = _ports.Take();
        WriteForOwner("jmx.access", User + " readonly\n");
        WriteForOwner("jmx.password", $"{User} {_password}\n");
    }

    /// <summary>The options of the broker's Java virtual machine for JMX. A client needs the password, which is visible in the
    /// list of processes, and has read access only.</summary>
    public IReadOnlyList<string> BrokerJavaOptions =>
    [
        "-Djava.rmi.server.hostname=127.0.0.1",
        .. new[]
        {
            "host=127.0.0.1", $"port={Port}", $"rmi.port={Port}", "ssl=false", "password.file=" + FileOf("jmx.password"), "access.file=" + FileOf("jmx.access"),
        }.Select(option => "-Dcom.sun.management.jmxremote." + option),
    ];

    private string Port => _port.ToString(CultureInfo.InvariantCulture);

    /// <summary>Reads the broker's current counts.</summary>
    /// <exception cref="StackException">The counts could not be read.</exception>
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
            ChildProcess.Patience, cancellationToken);
        var counts = BrokerCounts.Parse(await File.ReadAllLinesAsync(output, cancellationToken));
        return counts.Requests.Count > 0 ? counts : throw new StackException($"Kafka's JmxTool returned no counts: {await File.ReadAllTextAsync(output, cancellationToken)}");
    }

    public async ValueTask DisposeAsync()
    {
        _ports.Dispose();
        await _folder.DisposeAsync();
    }

    private string FileOf(string name) => Path.Combine(_folder.FullName, name);

    // Java accepts a password file only if no other user can read it.
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
