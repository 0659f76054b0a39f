using System.Globalization;
using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Kafka;

/// <summary>A way to a broker that leads through a relay.</summary>
/// <param name="RelayPort">Where clients connect: a relay of somebody else's.</param>
/// <param name="BrokerPort">Where the relay connects.</param>
public sealed record BrokerRelay(int RelayPort, int BrokerPort);

/// <summary>Who may come by a listener with TLS, and what the broker shows them.</summary>
/// <param name="CertificateFile">The broker's certificate and key, in PEM.</param>
/// <param name="Passwords">Names and passwords (SASL PLAIN).</param>
public sealed record BrokerSecurity(string CertificateFile, IReadOnlyDictionary<string, string> Passwords);

/// <summary>A listener with TLS of a node.</summary>
internal sealed record SecuredListener(int Port, string CertificateFile, IReadOnlyDictionary<string, string> Passwords);

/// <summary>One node of a <see cref="LocalKafka"/>.</summary>
internal sealed class KafkaNode : IAsyncDisposable
{
    private static readonly TimeSpan FormatBound = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan StartBound = TimeSpan.FromSeconds(90);

    // Nothing is lost by a kill: the data goes with the stack, and a node that is started again recovers.
    private static readonly TimeSpan StopBound = TimeSpan.FromSeconds(3);

    private readonly KafkaInstallation _installation;
    private readonly string _folder;
    private readonly string _logFile;
    private readonly bool _detached;
    private readonly IReadOnlyList<string> _javaOptions;

    public KafkaNode(
        int id, KafkaInstallation installation, StackFolder folder, FreePorts ports, bool detached, int? relayPort,
        BrokerSecurity? security, IReadOnlyList<string> javaOptions)
    {
        Id = id;
        _javaOptions = javaOptions;
        _installation = installation;
        _detached = detached;
        var name = string.Create(CultureInfo.InvariantCulture, $"kafka-{id}");
        _folder = folder.CreateSubfolder(name);
        _logFile = folder.LogFile(name);
        Port = ports.Take();
        ControllerPort = ports.Take();
        Relay = relayPort is { } port ? new BrokerRelay(port, ports.Take()) : null;
        Secured = security is null ? null : new SecuredListener(ports.Take(), security.CertificateFile, security.Passwords);
    }

    public int Id { get; }

    public int Port { get; }

    public int ControllerPort { get; }

    public BrokerRelay? Relay { get; }

    public SecuredListener? Secured { get; }

    public string DataFolder => Path.Combine(_folder, "data");

    public string Address => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{Port}");

    public ChildProcess? Process { get; private set; }

    private string SettingsFile => Path.Combine(_folder, "server.properties");

    private string LoggingFile => Path.Combine(_folder, "log4j2.properties");

    public async Task FormatAsync(
        string clusterId, IReadOnlyCollection<KafkaNode> cluster, CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(SettingsFile, KafkaSettings.Server(this, cluster), cancellationToken)
            .ConfigureAwait(false);
        await File.WriteAllTextAsync(LoggingFile, KafkaSettings.Logging(), cancellationToken).ConfigureAwait(false);
        var format = Java("kafka.tools.StorageTool", [
            "format", "--cluster-id", clusterId, "--config", SettingsFile,
        ]);
        await ChildProcess.RunAsync(format with { Detached = false }, FormatBound, cancellationToken)
            .ConfigureAwait(false);
    }

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (Process is { HasExited: false })
        {
            throw new InvalidOperationException($"Kafka broker {Id} runs already");
        }

        await ForgetProcessAsync().ConfigureAwait(false);
        Process = ChildProcess.Start(Java("kafka.Kafka", [SettingsFile], _javaOptions));
        await Process.WaitUntilAsync(IsServingAsync, StartBound, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Waits until this broker knows all brokers, so that a topic can be created through it.</summary>
    public Task WaitForAllAsync(IReadOnlyCollection<KafkaNode> cluster, CancellationToken cancellationToken) =>
        Process!.WaitUntilAsync(
            async token =>
            {
                var serving = await KafkaProbe.ServingBrokersAsync(Port, token).ConfigureAwait(false);
                return cluster.All(node => serving.Contains(node.Id));
            },
            StartBound,
            cancellationToken);

    public async Task StopAsync()
    {
        if (Process is not null)
        {
            await Process.StopAsync(StopBound).ConfigureAwait(false);
            await ForgetProcessAsync().ConfigureAwait(false);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (!_detached)
        {
            Process?.Kill();
        }

        await ForgetProcessAsync().ConfigureAwait(false);
    }

    private async Task ForgetProcessAsync()
    {
        if (Process is not null)
        {
            await Process.DisposeAsync().ConfigureAwait(false);
            Process = null;
        }
    }

    private ChildProcessStart Java(string mainClass, IEnumerable<string> arguments, IReadOnlyList<string>? options = null) =>
        new($"Kafka broker {Id}", _installation.Java, [
            "-Xmx256m",
            // The first compiler only: a broker that lives for minutes never earns back what the second one costs, but for TLS:
            // the processor's instructions for AES are used by the second alone.
            .. Secured is null ? (string[])["-XX:TieredStopAtLevel=1"] : [],
            // The cheapest collector for a small heap on few cores.
            "-XX:+UseSerialGC",
            // What Java and the compression libraries would otherwise leave behind in the system's temporary folder.
            "-XX:-UsePerfData", "-Djava.io.tmpdir=" + _folder,
            "-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true",
            "-Dlog4j2.configurationFile=" + LoggingFile, .. options ?? [],
            "-cp", _installation.Libraries, mainClass, .. arguments,
        ], _logFile)
        {
            WorkingDirectory = _folder,
            Detached = _detached,
        };

    // A broker lists itself only when the controllers have registered it and let it serve.
    private async Task<bool> IsServingAsync(CancellationToken cancellationToken)
    {
        var serving = await KafkaProbe.ServingBrokersAsync(Port, cancellationToken).ConfigureAwait(false);
        return serving.Contains(Id);
    }
}
