using System.Globalization;
using System.Security.Cryptography;
using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Kafka;

/// <summary>
/// A Kafka cluster of the stack's own, in KRaft mode on the loopback interface: one node, or three that tolerate the
/// loss of one. Topics are never created by accident.
/// </summary>
public sealed class LocalKafka : IAsyncDisposable
{
    private readonly IReadOnlyList<KafkaNode> _nodes;

    private LocalKafka(IReadOnlyList<KafkaNode> nodes) => _nodes = nodes;

    /// <summary>The addresses of all brokers, running or not, for <c>bootstrap.servers</c>.</summary>
    public string BootstrapServers => string.Join(',', _nodes.Select(static node => node.Address));

    /// <summary>The addresses of all brokers for clients with TLS and a password; empty where there are none.</summary>
    public string SecuredServers => string.Join(',', _nodes.Select(static node => node.Secured).OfType<SecuredListener>()
        .Select(static listener => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{listener.Port}")));

    /// <summary>The ways to the brokers that lead through relays; empty where there are none.</summary>
    public IReadOnlyList<BrokerRelay> Relays => [.. _nodes.Select(static node => node.Relay).OfType<BrokerRelay>()];

    /// <summary>How many brokers there are, running or not: 1 or 3.</summary>
    public int BrokerCount => _nodes.Count;

    /// <summary>The processes of the brokers that were started and not stopped since.</summary>
    public IEnumerable<ChildProcess> Processes => _nodes.Select(static node => node.Process).OfType<ChildProcess>();

    /// <summary>Makes and starts a new cluster, and returns when every broker is registered and answers.</summary>
    /// <param name="folder">Where its data and logs go.</param>
    /// <param name="ports">Where its ports come from.</param>
    /// <param name="brokers">1 or 3.</param>
    /// <param name="detached">Whether the brokers go on when this process ends.</param>
    /// <param name="progress">Is told what is being done.</param>
    /// <param name="relayPorts">For each broker the port of a relay, through which clients that bootstrap there reach it
    /// (see <see cref="Relays"/>); none when absent.</param>
    /// <param name="security">Opens a further listener with TLS, whose users may do what an access list says; those of the
    /// other listeners may do everything. None when absent.</param>
    /// <param name="javaOptions">Further options of each broker's Java virtual machine.</param>
    /// <param name="cancellationToken">Gives up, leaving no process.</param>
    /// <exception cref="StackException">Kafka or Java is missing, or a broker refuses to start.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="brokers"/> is neither 1 nor 3.</exception>
    public static async Task<LocalKafka> StartNewAsync(
        StackFolder folder,
        FreePorts ports,
        int brokers = 1,
        bool detached = false,
        IProgress<string>? progress = null,
        IReadOnlyList<int>? relayPorts = null,
        BrokerSecurity? security = null,
        IReadOnlyList<string>? javaOptions = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(folder);
        ArgumentNullException.ThrowIfNull(ports);
        if (brokers is not (1 or 3))
        {
            throw new ArgumentOutOfRangeException(nameof(brokers), brokers, "A cluster has 1 or 3 brokers");
        }

        progress?.Report(brokers == 1 ? "Starting Kafka" : $"Starting Kafka with {brokers} brokers");
        var installation = KafkaInstallation.Find();
        KafkaNode[] nodes =
        [
            .. Enumerable.Range(1, brokers).Select(id => new KafkaNode(
                id, installation, folder, ports, detached, relayPorts is null ? null : relayPorts[id - 1], security, javaOptions ?? [])),
        ];
        var clusterId = NewClusterId();
        var cluster = new LocalKafka(nodes);
        try
        {
            await Task.WhenAll(nodes.Select(async node =>
            {
                await node.FormatAsync(clusterId, nodes, cancellationToken).ConfigureAwait(false);
                await node.StartAsync(cancellationToken).ConfigureAwait(false);
                await node.WaitForAllAsync(nodes, cancellationToken).ConfigureAwait(false);
            })).ConfigureAwait(false);
            return cluster;
        }
        catch
        {
            foreach (var node in nodes)
            {
                node.Process?.Kill();
            }

            await cluster.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Starts a broker that was killed or stopped, with the data it had; returns when it serves again.</summary>
    /// <param name="number">Which, from 1.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <exception cref="StackException">It refuses, or takes more than a minute.</exception>
    /// <exception cref="InvalidOperationException">It runs already.</exception>
    public Task StartBrokerAsync(int number, CancellationToken cancellationToken = default) =>
        Node(number).StartAsync(cancellationToken);

    /// <summary>Ends a broker at once, as <c>kill -9</c> does.</summary>
    /// <param name="number">Which, from 1.</param>
    public void KillBroker(int number) => Node(number).Process?.Kill();

    /// <summary>Stops all brokers at the same time.</summary>
    public Task StopAsync() => Task.WhenAll(_nodes.Select(static node => node.StopAsync()));

    /// <summary>Stops all brokers, unless they are detached.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var node in _nodes)
        {
            await node.DisposeAsync().ConfigureAwait(false);
        }
    }

    private static string NewClusterId() =>
        Convert.ToBase64String(RandomNumberGenerator.GetBytes(16)).TrimEnd('=').Replace('+', 'A').Replace('/', 'B');

    private KafkaNode Node(int number)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(number, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(number, _nodes.Count);
        return _nodes[number - 1];
    }
}
