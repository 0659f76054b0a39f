using System.Collections.Frozen;
using Billing.LocalStack.Kafka;
using Billing.Messaging;

namespace Billing.LocalStack;

/// <summary>The options of a stack.</summary>
public sealed record StackOptions
{
    /// <summary>Number of proxies.</summary>
    public int Proxies { get; init; } = 3;

    /// <summary>Number of payment backends; over <c>direct</c>, of backends that serve payments and balances.</summary>
    public int PaymentBackends { get; init; } = 3;

    /// <summary>Number of balance backends; without effect over <c>direct</c>.</summary>
    public int BalanceBackends { get; init; } = 3;

    /// <summary>The transport: <c>kafka</c>, or <c>direct</c>, with which proxies call the
    /// backends without Kafka.</summary>
    public string Transport { get; init; } = "kafka";

    /// <summary>The protocol over <c>direct</c>: <c>grpc</c> or <c>rpcx</c>.</summary>
    public string Protocol { get; init; } = "grpc";

    /// <summary>Number of Kafka brokers, 1 or 3, if the stack starts its own.</summary>
    public int Brokers { get; init; } = 1;

    /// <summary>Number of partitions of each request topic and of the event topic; 0 for <see cref="FewestPartitions"/>
    /// if the stack starts its own brokers, and for the services' default otherwise. A producer sends a separate batch
    /// to each partition, so on one machine more partitions only make the batches smaller.</summary>
    public int Partitions { get; init; }

    /// <summary>The smallest number of partitions of each request topic with which every backend of the more numerous
    /// role is assigned at least one: a backend consumes the topics of all payment types, and a consumer group
    /// distributes the partitions of all of them evenly.</summary>
    public int FewestPartitions =>
        (int)Math.Ceiling((double)Math.Max(PaymentBackends, BalanceBackends) / Topics.AllPayments.Count);

    /// <summary>Over <c>kafka</c>: <c>auto</c>, <c>embedded</c>, or the addresses of running brokers.</summary>
    public string Kafka { get; init; } = "auto";

    /// <summary><c>auto</c>, or the connection string of a running PostgreSQL.</summary>
    public string Postgres { get; init; } = "auto";

    /// <summary>Number of PostgreSQL servers that the stack starts: several are a primary and standbys
    /// (<see cref="Billing.LocalStack.Postgres.ReplicatedPostgres"/>).</summary>
    public int PostgresReplicas { get; init; } = 1;

    /// <summary>Number of databases that the stack starts for the event store, each with a server of its own.</summary>
    public int Databases { get; init; } = 1;

    /// <summary>Whether the simulated card network delays its answers.</summary>
    public bool Jitter { get; init; }

    /// <summary>Port of the first proxy, the others use the following ports; 0 for free ports.</summary>
    public int Port { get; init; }

    /// <summary>REST port of the first proxy, the others use the following ports; 0 for free ports.</summary>
    public int RestPort { get; init; }

    /// <summary>The requested ports of all proxies.</summary>
    public IEnumerable<int> FixedPorts => new[] { Port, RestPort }.Where(first => first != 0)
        .SelectMany(first => Enumerable.Range(first, IsEmbedded ? 1 : Proxies));

    private bool IsEmbedded =>
        Transport == "kafka" && (Kafka == "embedded" || (Kafka == "auto" && KafkaPrograms.FindHome() is null));

    /// <summary>Sets of relays in front of the brokers that the stack starts, each with the port of the relay to each
    /// broker.</summary>
    public IReadOnlyList<IReadOnlyList<int>> BrokerRelayPorts { get; init; } = [];

    /// <summary>Further settings of every service, keyed by environment variable, e.g.
    /// <c>Billing__Proxy__InFlightMax</c>; they override those of the stack.</summary>
    public IReadOnlyDictionary<string, string> Settings { get; init; } = FrozenDictionary<string, string>.Empty;

    /// <summary>Further settings of one service, by the stack, whose servers run by then, its role and its number;
    /// they override all others. None if null.</summary>
    public Func<BillingStack, ServiceRole, int, IReadOnlyDictionary<string, string>>? SettingsOf { get; init; }

    /// <summary>The control group of one service, by its role and its number; that of this process if
    /// null.</summary>
    public Func<ServiceRole, int, Processes.ControlGroup?>? GroupOf { get; init; }

    /// <summary>Further Java options of the brokers that the stack starts.</summary>
    public IReadOnlyList<string> BrokerJavaOptions { get; init; } = [];

    /// <summary>Where the stack sends its events, over Kafka only; nowhere if null.</summary>
    public WebhookTarget? Webhook { get; init; }

    /// <summary>Whether the proxies use TLS and authenticate their callers, with credentials that
    /// the stack creates.</summary>
    public bool Secured { get; init; }

    /// <summary>The folder of those credentials; null for the stack's folder.</summary>
    public string? CredentialsFolder { get; init; }

    /// <summary>Whether the servers that the stack starts keep their data on a disk that can lose its power
    /// (<see cref="Processes.LossyDisk"/>).</summary>
    public bool MayLosePower { get; init; }

    /// <summary>Whether the disks of the servers that the stack starts can be made slow: of a single PostgreSQL
    /// (<see cref="BillingStack.PostgresDisk"/>), and of each broker (<see cref="Kafka.LocalKafka.DiskOf"/>).</summary>
    public bool MayBeSlow { get; init; }

    /// <summary>The network between the brokers; null if they reach each other directly.</summary>
    public Processes.PeerRelays? BetweenBrokers { get; init; }

    /// <summary>The network between several PostgreSQL servers; null if they reach each other directly.</summary>
    public Processes.PeerRelays? BetweenDatabases { get; init; }

    /// <summary>Whether the stack keeps running when this process ends.</summary>
    public bool Detached { get; init; }
}
