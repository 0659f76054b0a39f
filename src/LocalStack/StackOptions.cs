using System.Collections.Frozen;
using Billing.Contracts;
using Billing.LocalStack.Kafka;

namespace Billing.LocalStack;

/// <summary>What a stack consists of.</summary>
public sealed record StackOptions
{
    /// <summary>Proxies.</summary>
    public int Proxies { get; init; } = 3;

    /// <summary>Payment backends; over <c>direct</c>, backends that serve payments and balances.</summary>
    public int PaymentBackends { get; init; } = 3;

    /// <summary>Balance backends; none over <c>direct</c>.</summary>
    public int BalanceBackends { get; init; } = 3;

    /// <summary><c>kafka</c>, or <c>direct</c>: proxies call the backends, and there is no Kafka.</summary>
    public string Transport { get; init; } = "kafka";

    /// <summary>What is spoken over <c>direct</c>: <c>grpc</c>, <c>rpcx</c> or <c>rest</c>.</summary>
    public string Protocol { get; init; } = "grpc";

    /// <summary>Kafka brokers, 1 or 3, where the stack starts its own.</summary>
    public int Brokers { get; init; } = 1;

    /// <summary>Partitions of each request topic and of the event topic; 0 for as many as give every backend one of some topic
    /// where the stack starts its own brokers, and for the services' default elsewhere. A producer sends the batch of
    /// each partition on its own, so on one machine more partitions only make batches smaller.</summary>
    public int Partitions { get; init; }

    /// <summary>The fewest partitions of each request topic with which every backend of the larger kind has one: a backend
    /// serves the topics of all payment types, and a group shares out the partitions of all of them evenly.</summary>
    public int FewestPartitions =>
        (int)Math.Ceiling((double)Math.Max(PaymentBackends, BalanceBackends) / Topics.AllPayments.Count);

    /// <summary>Over <c>kafka</c>: <c>auto</c>, <c>embedded</c>, or the addresses of brokers that run already.</summary>
    public string Kafka { get; init; } = "auto";

    /// <summary><c>auto</c>, or the connection string of a PostgreSQL that runs already.</summary>
    public string Postgres { get; init; } = "auto";

    /// <summary>Whether the simulated card network takes its time.</summary>
    public bool Jitter { get; init; }

    /// <summary>Port of the first proxy, the others on the ports after it; 0 for free ones.</summary>
    public int Port { get; init; }

    /// <summary>Port of the first proxy's REST front, the others on the ports after it; 0 for free ones.</summary>
    public int RestPort { get; init; }

    /// <summary>The ports that were asked for, of all proxies.</summary>
    public IEnumerable<int> FixedPorts => new[] { Port, RestPort }.Where(first => first != 0)
        .SelectMany(first => Enumerable.Range(first, IsEmbedded ? 1 : Proxies));

    private bool IsEmbedded =>
        Transport == "kafka" && (Kafka == "embedded" || (Kafka == "auto" && KafkaPrograms.FindHome() is null));

    /// <summary>For each of the stack's own brokers the port of a relay that leads to it; none if null.</summary>
    public IReadOnlyList<int>? BrokerRelayPorts { get; init; }

    /// <summary>Further settings of every service, by their names as environment variables, e.g.
    /// <c>Billing__Proxy__InFlightMax</c>; they win over the stack's own.</summary>
    public IReadOnlyDictionary<string, string> Settings { get; init; } = FrozenDictionary<string, string>.Empty;

    /// <summary>Further options of the Java virtual machine of the stack's own brokers.</summary>
    public IReadOnlyList<string> BrokerJavaOptions { get; init; } = [];

    /// <summary>Further settings of the stack's own PostgreSQL, by the names of postgresql.conf.</summary>
    public IReadOnlyDictionary<string, string> PostgresSettings { get; init; } = FrozenDictionary<string, string>.Empty;

    /// <summary>Whether the proxies have TLS and ask who their callers are, with credentials of the stack's own.</summary>
    public bool Secured { get; init; }

    /// <summary>Where those are kept; null for the stack's folder.</summary>
    public string? CredentialsFolder { get; init; }

    /// <summary>Whether the stack goes on when this process ends.</summary>
    public bool Detached { get; init; }
}
