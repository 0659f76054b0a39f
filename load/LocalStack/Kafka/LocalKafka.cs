using System.Security.Cryptography;
using Billing.LocalStack.Processes;

namespace Billing.LocalStack.Kafka;

/// <summary>
/// A Kafka cluster that belongs to the stack, in KRaft mode on the loopback interface: one node, or three that tolerate
/// the loss of one. Topics are never created automatically.</summary>
public sealed class LocalKafka : IAsyncDisposable
{
    private readonly IReadOnlyList<KafkaNode> _nodes;

    private LocalKafka(IReadOnlyList<KafkaNode> nodes) => _nodes = nodes;

    /// <summary>The addresses of all brokers, running or not, for <c>bootstrap.servers</c>.</summary>
    public string BootstrapServers => string.Join(',', _nodes.Select(static node => node.Address));

    /// <summary>The addresses of the brokers' listeners with TLS and passwords; empty if there are none.</summary>
    public string SecuredServers => string.Join(
        ',', _nodes.Where(static node => node.SecuredPort is not null)
            .Select(static node => $"127.0.0.1:{node.SecuredPort}"));

    /// <summary>The ports of the brokers to which a set of relays connects, from 0.</summary>
    public IReadOnlyList<int> RelaysOf(int set) => [.. _nodes.Select(node => node.Relays[set].BrokerPort)];

    /// <summary>The processes of the brokers that were started and have not been stopped since.</summary>
    public IEnumerable<ChildProcess> Processes => _nodes.Select(static node => node.Process).OfType<ChildProcess>();

    /// <summary>Creates and starts a new cluster; returns when every broker is registered and answers.</summary>
    /// <param name="detached">Whether the brokers keep running when this process ends.</param>
    /// <param name="relayPorts">Sets of relays, each with the port of the relay to each broker, through which clients
    /// that bootstrap there reach it (see <see cref="RelaysOf"/>); no relays if absent.</param>
    /// <param name="security">Certificate and users of a further listener with TLS, whose users are restricted by an
    /// access list; clients of the other listeners may do everything. No such listener if absent.</param>
    /// <param name="javaOptions">Further options of Java; none if absent.</param>
    /// <param name="between">The network between the brokers; they reach each other directly if absent.</param>
    /// <param name="mayBeSlow">Whether the disk of each broker can be made slow (<see cref="DiskOf"/>).</param>
    /// <exception cref="StackException">Kafka or Java is missing, or a broker does not start.</exception>
    public static async Task<LocalKafka> StartNewAsync(
        StackFolder folder,
        FreePorts ports,
        int brokers = 1,
        bool detached = false,
        IProgress<string>? progress = null,
        IReadOnlyList<IReadOnlyList<int>>? relayPorts = null,
        BrokerSecurity? security = null,
        IReadOnlyList<string>? javaOptions = null,
        PeerRelays? between = null,
        bool mayBeSlow = false,
        CancellationToken cancellationToken = default)
    {
        if (brokers is not (1 or 3))
        {
            throw new ArgumentOutOfRangeException(nameof(brokers), brokers, "A cluster has 1 or 3 brokers");
        }

        progress?.Report(brokers == 1 ? "Starting Kafka" : $"Starting Kafka with {brokers} brokers");
        var installation = KafkaInstallation.Find();
        KafkaNode[] nodes = [.. Enumerable.Range(1, brokers).Select(id => new KafkaNode(
            id, installation, folder, ports, detached, [.. relayPorts?.Select(set => set[id - 1]) ?? []], security,
            javaOptions ?? [])
        {
            Between = between is null ? null : new BrokerRelay(between.Ports[id - 1], ports.Take()),
        })];
        between?.Lead([.. nodes.Select(node => node.Between!.BrokerPort)]);
        foreach (var node in mayBeSlow ? nodes : [])
        {
            node.Disk = await PreloadedLibrary.CompileAsync(
                folder, "slow_disk.c", "SLOW_DISK", cancellationToken, $"slow_disk_{node.Id}");
        }
        var clusterId = Convert.ToBase64String(RandomNumberGenerator.GetBytes(16)).TrimEnd('=').Replace('+', 'A')
            .Replace('/', 'B');
        var cluster = new LocalKafka(nodes);
        try
        {
            await Task.WhenAll(nodes.Select(async node =>
            {
                await node.WriteSettingsAsync(clusterId, nodes, cancellationToken);
                await node.StartAsync(cancellationToken);
                await node.WaitForAllAsync(nodes, cancellationToken);
            }));
            return cluster;
        }
        catch
        {
            foreach (var node in nodes)
            {
                node.Process?.Kill();
            }

            await cluster.DisposeAsync();
            throw;
        }
    }

    /// <summary>The disk of a broker; null if it cannot be made slow.</summary>
    public PreloadedLibrary? DiskOf(int number) => Node(number).Disk;

    /// <summary>The folder of a broker's logs.</summary>
    public string DataOf(int number) => Node(number).DataFolder;

    /// <summary>Starts a broker that was killed or stopped, with its previous data, or an empty disk if it has burnt;
    /// returns when it serves again.</summary>
    /// <exception cref="StackException">It does not start, or takes more than 90 seconds.</exception>
    public Task StartBrokerAsync(int number, CancellationToken cancellationToken = default) =>
        Node(number).StartAsync(cancellationToken);

    /// <summary>Kills a broker, as <c>kill -9</c> does.</summary>
    public void KillBroker(int number) => Node(number).Process?.Kill();

    /// <summary>Kills a broker, and deletes its data: the end of a machine with its disk.</summary>
    public Task BurnBrokerAsync(int number) => Node(number).BurnAsync();

    /// <summary>Kills a broker, and deletes the log of a partition that it has.
    /// Started again, it begins with an empty one.</summary>
    public Task LoseLogAsync(int number, string topic, int partition) =>
        Node(number).BurnAsync(FormattableString.Invariant($"{topic}-{partition}"));

    /// <summary>Kills all brokers, unless they are detached.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var node in _nodes)
        {
            await node.DisposeAsync();
        }
    }

    private KafkaNode Node(int number)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(number, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(number, _nodes.Count);
        return _nodes[number - 1];
    }
}
