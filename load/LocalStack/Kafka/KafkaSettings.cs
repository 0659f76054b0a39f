
namespace Billing.LocalStack.Kafka;

/// <summary>The settings of a node that is both broker and controller.</summary>
internal static class KafkaSettings
{
    /// <summary>Returns the text of server.properties.</summary>
    public static string Server(KafkaNode node, IReadOnlyCollection<KafkaNode> cluster)
    {
        var replicas = cluster.Count;
        var inSync = replicas == 1 ? 1 : 2;
        var voters = string.Join(',', cluster.Select(static voter => $"{voter.Id}@127.0.0.1:{voter.ControllerPort}"));
        var secured = node.SecuredPort is { } port ? $",SECURED://127.0.0.1:{port}" : "";
        // A relay's listener advertises the relay, so that its clients do not bypass it.
        string Relays(Func<BrokerRelay, string> of) =>
            string.Concat(node.Relays.Select((relay, set) => $",RELAY{set}:{of(relay)}"));
        string Between(Func<BrokerRelay, string> of) => node.Between is { } relay ? $",BETWEEN:{of(relay)}" : "";
        var listener = Relays(Listening) + Between(Listening) + secured;
        var advertised = Relays(Advertised) + Between(Advertised) + secured;
        // As services log in behind a relay as before it.
        var protocols = Relays(_ => node.Security is null ? "PLAINTEXT" : "SASL_SSL") + Between(_ => "PLAINTEXT");
        return $"""
            process.roles=broker,controller
            node.id={node.Id}
            controller.quorum.voters={voters}
            listeners=CLIENT://127.0.0.1:{node.Port},CONTROLLER://127.0.0.1:{node.ControllerPort}{listener}
            advertised.listeners=CLIENT://127.0.0.1:{node.Port}{advertised}
            listener.security.protocol.map=CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_SSL{protocols}
            inter.broker.listener.name={(node.Between is null ? "CLIENT" : "BETWEEN")}
            controller.listener.names=CONTROLLER
            log.dirs={node.DataFolder}

            auto.create.topics.enable=false
            num.partitions=5
            default.replication.factor={replicas}
            min.insync.replicas={inSync}
            offsets.topic.num.partitions=5
            offsets.topic.replication.factor={replicas}
            transaction.state.log.num.partitions=5
            transaction.state.log.replication.factor={replicas}
            transaction.state.log.min.isr={inSync}
            share.coordinator.state.topic.num.partitions=1
            share.coordinator.state.topic.replication.factor={replicas}
            share.coordinator.state.topic.min.isr={inSync}

            # The death of a group member is detected within seconds, not after the default of 45.
            group.initial.rebalance.delay.ms=0
            group.min.session.timeout.ms=1000
            group.consumer.min.session.timeout.ms=1000
            group.consumer.session.timeout.ms=3000
            group.consumer.min.heartbeat.interval.ms=500
            group.consumer.heartbeat.interval.ms=500
            # So is the death of one broker of several, before the sessions of the groups that it coordinates expire. A
            # single broker has no replacement, so a short timeout could only fence it by mistake.
            broker.heartbeat.interval.ms=300
            broker.session.timeout.ms={(replicas == 1 ? 9000 : 1500)}
            controller.quorum.election.timeout.ms=500
            controller.quorum.fetch.timeout.ms=1000
            replica.lag.time.max.ms=5000

            # For a small machine and a heap of 256 MB.
            num.network.threads=2
            num.io.threads=4
            background.threads=2
            log.cleaner.dedupe.buffer.size=8388608
            {(node.Security is { } security ? Security(security, node.Relays.Count) : "")}

            """;
    }

    private static string Listening(BrokerRelay relay) => $"//127.0.0.1:{relay.BrokerPort}";

    private static string Advertised(BrokerRelay relay) => $"//127.0.0.1:{relay.RelayPort}";

    private const string ScramLogin = "org.apache.kafka.common.security.scram.ScramLoginModule";
    private const string PlainLogin = "org.apache.kafka.common.security.plain.PlainLoginModule";

    private static string Accounts(BrokerSecurity security) =>
        string.Join(' ', security.Passwords.Select(user => $"user_{user.Key}=\"{user.Value}\""));

    // Clients of the other listeners, which have neither TLS nor passwords, are anonymous and get the rights of
    // an administrator.
    private static string Security(BrokerSecurity security, int relays) => $"""
        {string.Join('\n', Enumerable.Range(0, relays).Select(set => "relay" + set).Append("secured")
            .Select(listener => Secured(listener, security)))}
        authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
        super.users=User:ANONYMOUS
        """;

    private static string Secured(string listener, BrokerSecurity security) => $"""

        listener.name.{listener}.ssl.keystore.type=PEM
        listener.name.{listener}.ssl.keystore.location={security.CertificateFile}
        listener.name.{listener}.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
        listener.name.{listener}.scram-sha-512.sasl.jaas.config={ScramLogin} required;
        listener.name.{listener}.plain.sasl.jaas.config={PlainLogin} required {Accounts(security)};
        """;

    /// <summary>The text of log4j2.properties, which logs warnings and the start of the node.</summary>
    public const string Logging = """
        status = error
        appender.console.type = Console
        appender.console.name = console
        appender.console.layout.type = PatternLayout
        appender.console.layout.pattern = %d [%t] %p %m (%c)%n
        rootLogger.level = warn
        rootLogger.appenderRef.console.ref = console
        logger.server.name = kafka.server.KafkaRaftServer
        logger.server.level = info

        """;
}
