using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Kafka;

/// <summary>The ports of a relay in front of a broker. The relay itself is not part of the stack.</summary>
/// <param name="RelayPort">The port of the relay, to which clients connect.</param>
/// <param name="BrokerPort">The port of the broker, to which the relay connects.</param>
public sealed record BrokerRelay(int RelayPort, int BrokerPort);

/// <summary>The certificate and the users of a listener with TLS.</summary>
/// <param name="CertificateFile">The file of the broker's certificate and key, in PEM.</param>
/// <param name="Passwords">The password of each user (SASL PLAIN). With SCRAM-SHA-512 there are none until an
/// administrator adds them.</param>
public sealed record BrokerSecurity(string CertificateFile, IReadOnlyDictionary<string, string> Passwords);

/// <summary>One node of a <see cref="LocalKafka"/>.</summary>
internal sealed class KafkaNode : IAsyncDisposable
{
    private readonly KafkaInstallation _installation;
    private readonly string _folder;
    private readonly string _logFile;
    private readonly bool _detached;
    private readonly IReadOnlyList<string> _javaOptions;
    private string _clusterId = "";

    public KafkaNode(
        int id, KafkaInstallation installation, StackFolder folder, FreePorts ports, bool detached,
        IReadOnlyList<int> relayPorts, BrokerSecurity? security, IReadOnlyList<string> javaOptions)
    {
        Id = id;
        _javaOptions = javaOptions;
        _installation = installation;
        _detached = detached;
        _folder = folder.CreateDataFolder($"kafka-{id}");
        _logFile = folder.LogFile($"kafka-{id}");
        Port = ports.Take();
        ControllerPort = ports.Take();
        Relays = [.. relayPorts.Select(port => new BrokerRelay(port, ports.Take()))];
        Security = security;
        SecuredPort = security is null ? null : ports.Take();
    }

    public int Id { get; }
    public int Port { get; }
    public int ControllerPort { get; }
    public IReadOnlyList<BrokerRelay> Relays { get; }
    public BrokerSecurity? Security { get; }

    /// <summary>The relay through which the other brokers reach it; null if there is none.</summary>
    public BrokerRelay? Between { get; init; }

    /// <summary>Its disk; null if that cannot be made slow.</summary>
    public PreloadedLibrary? Disk { get; set; }

    /// <summary>The port of the listener with TLS.</summary>
    public int? SecuredPort { get; }
    public string DataFolder => Path.Combine(_folder, "data");
    public string Address => $"127.0.0.1:{Port}";
    public ChildProcess? Process { get; private set; }
    private string SettingsFile => Path.Combine(_folder, "server.properties");
    private string LoggingFile => Path.Combine(_folder, "log4j2.properties");

    /// <summary>Writes its settings, which it needs before it starts.</summary>
    public async Task WriteSettingsAsync(
        string clusterId, IReadOnlyCollection<KafkaNode> cluster, CancellationToken cancellationToken)
    {
        _clusterId = clusterId;
        await File.WriteAllTextAsync(SettingsFile, KafkaSettings.Server(this, cluster), cancellationToken);
        await File.WriteAllTextAsync(LoggingFile, KafkaSettings.Logging, cancellationToken);
    }

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (Process is { HasExited: false })
        {
            throw new InvalidOperationException($"Kafka broker {Id} is already running");
        }
        await ForgetProcessAsync();
        if (!File.Exists(Path.Combine(DataFolder, "meta.properties")))
        {
            var format = Java(
                [], "kafka.tools.StorageTool", "format", "--cluster-id", _clusterId, "--config", SettingsFile);
            await ChildProcess.RunAsync(format with { Detached = false }, ChildProcess.Patience, cancellationToken);
        }
        Process = ChildProcess.Start(Java(_javaOptions, "kafka.Kafka", SettingsFile));
        // A broker lists itself only after the controllers have registered and unfenced it.
        await WaitForAllAsync([this], cancellationToken);
    }

    /// <summary>Waits until this broker knows brokers, so that a topic can be created on them through it.</summary>
    public Task WaitForAllAsync(IReadOnlyCollection<KafkaNode> cluster, CancellationToken cancellationToken) =>
        Process!.WaitUntilAsync(
            async token =>
                !cluster.Select(node => node.Id).Except(await KafkaProbe.ServingBrokersAsync(Address, token)).Any(),
            ChildProcess.Patience, cancellationToken);

    /// <summary>Kills it, and deletes its data, or only the log of a partition, such as
    /// <c>billing.events-0</c>.</summary>
    public async Task BurnAsync(string log = "")
    {
        Process?.Kill();
        await ForgetProcessAsync();
        Directory.Delete(Path.Combine(DataFolder, log), recursive: true);
    }

    // A kill loses nothing: a node recovers when it is started again, and otherwise its data is deleted.
    public async ValueTask DisposeAsync()
    {
        if (!_detached)
        {
            Process?.Kill();
        }
        await ForgetProcessAsync();
    }

    private async Task ForgetProcessAsync()
    {
        if (Process is not null)
        {
            await Process.DisposeAsync();
            Process = null;
        }
    }

    private ChildProcessStart Java(IReadOnlyList<string> options, string mainClass, params string[] arguments) =>
        new($"Kafka broker {Id}", _installation.Java, [
            "-Xmx256m",
            // The C1 compiler only: a broker that runs for minutes does not recover the cost of C2. Except in
            // the background, for as long as somebody likes, and with TLS, because only C2 uses the processor's
            // AES instructions.
            .. Security is null && !_detached ? (string[])["-XX:TieredStopAtLevel=1"] : [],
            // The cheapest collector for a small heap on few cores.
            "-XX:+UseSerialGC",
            // Java and the compression libraries would otherwise leave files in the system's temporary folder.
            "-XX:-UsePerfData", "-Djava.io.tmpdir=" + _folder,
            "-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true",
            "-Dlog4j2.configurationFile=" + LoggingFile, .. KafkaClassData.Use(_installation, options),
            "-cp", _installation.Libraries, mainClass, .. arguments,
        ], _logFile)
        {
            WorkingDirectory = _folder,
            Detached = _detached,
            Environment = Disk?.Settings.ToDictionary(setting => setting.Key, setting => (string?)setting.Value) ?? [],
        };
}
