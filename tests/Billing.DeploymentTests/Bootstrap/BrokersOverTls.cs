using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Processes;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;

namespace Billing.DeploymentTests.Bootstrap;

/// <summary>A broker with the settings, the accounts and the certificate that a machine gets.</summary>
public sealed class BootstrappedBroker : IAsyncLifetime
{
    private ChildProcess? _process;

    /// <summary>The folder of its secrets and settings.</summary>
    public string Folder { get; } = Directory.CreateTempSubdirectory().FullName;

    /// <summary>Its address: one of this machine's own, so that its ports are those of a machine's.</summary>
    public string Address { get; } = $"127.{1 + (Environment.ProcessId % 250)}.0.11";

    /// <summary>Why it does not run; null if it does.</summary>
    public string? Missing { get; } = KafkaPrograms.FindHome() is null ? "Kafka is not installed"
        : KafkaPrograms.FindJava() is null ? "Java is not installed" : null;

    public async ValueTask InitializeAsync()
    {
        if (Missing is not null)
        {
            return;
        }
        var made = await ExternalTool.RunAsync(ExternalTool.Need("bash"), ["-c", Script("""
            mkdir data; ln -s "$KAFKA" kafka
            bash "$BILLING_BOOTSTRAP/../terraform/secrets.sh" --folder "$PWD/secrets" --network "$network" >/dev/null
            put_broker_authority; pem tls/kafka >"$broker_certificate"
            kafka_properties | sed "s|^log.dirs=.*|log.dirs=$PWD/data|" >new; mv new "$kafka_settings_file"
            format_storage env
            settings=(); kafka_settings proxy-1; printf '%s\n' "${settings[@]}" >settings
            """)], Folder);
        made.Succeeded();
        _process = ChildProcess.Start(new ChildProcessStart(
            "kafka", ExternalTool.Need("bash"), ["-c", Script("""
                exec java -Xmx256m -XX:+UseSerialGC -cp "$programs/kafka/libs/*" kafka.Kafka "$kafka_settings_file"
                """)],
            Path.Combine(Folder, "kafka.log"))
        { WorkingDirectory = Folder });
    }

    public async ValueTask DisposeAsync()
    {
        if (_process is not null)
        {
            await _process.DisposeAsync();
        }
        Directory.Delete(Folder, recursive: true);
    }

    /// <summary>What the bootstrap writes into a proxy's settings, as properties of librdkafka.</summary>
    public ClientConfig Settings()
    {
        var lines = File.ReadAllLines(Path.Combine(Folder, "settings"));
        var config = new ClientConfig { BootstrapServers = Address + ":9092" };
        foreach (var pair in lines.Chunk(2).Where(
            pair => pair[0].StartsWith("Billing:Kafka:Properties:", StringComparison.Ordinal)))
        {
            config.Set(pair[0]["Billing:Kafka:Properties:".Length..], pair[1]);
        }
        return config;
    }

    // With the bootstrap's own functions; what it keeps on a machine is in this folder.
    private string Script(string script) => $$"""
        set -euo pipefail; shopt -s inherit_errexit
        BILLING_BOOTSTRAP='{{Repository.Root}}/deploy/bootstrap'
        . "$BILLING_BOOTSTRAP/common.sh"; . "$BILLING_BOOTSTRAP/tiers/kafka.sh"
        chown() { :; }
        KAFKA='{{KafkaPrograms.FindHome()}}' network='{{Address[..^"0.11".Length]}}0.0/16'
        programs=$PWD kafka_settings_file=$PWD/server.properties
        broker_authority=$PWD/ca.pem broker_certificate=$PWD/kafka.pem
        BILLING_SECRETS=file:$PWD/secrets BILLING_ADDRESS={{Address}} BILLING_KAFKA_NODES=1@{{Address}} BILLING_ZONE=a
        BILLING_KAFKA={{Address}}:9092 BILLING_PARTITIONS=3 BILLING_HOSTS=proxy-1={{Address}}
        {{script}}
        """;
}

/// <summary>The connections with a broker of a machine.</summary>
public sealed class BrokersOverTls(BootstrappedBroker broker) : IClassFixture<BootstrappedBroker>
{
    private readonly BootstrappedBroker _broker =
        broker.Missing is null ? broker : throw Xunit.Sdk.SkipException.ForSkip(broker.Missing);

    [Fact]
    public async Task A_program_connects_with_the_settings_that_its_machine_gets()
    {
        using var admin = KafkaClients.Admin(new AdminClientConfig(_broker.Settings()));

        var brokers = await Poll.LastAsync(
            () => Task.FromResult(Count(admin)), count => count > 0, TimeSpan.FromMinutes(5), TimeSpan.FromSeconds(1),
            TestContext.Current.CancellationToken);

        Assert.Equal(1, brokers);
    }

    [Theory]
    [InlineData("security.protocol", "SASL_PLAINTEXT")]
    [InlineData("sasl.password", "a-wrong-password")]
    [InlineData("ssl.ca.location", "/etc/ssl/certs/ca-certificates.crt")]
    public async Task A_program_without_TLS_with_a_wrong_password_or_another_authority_does_not(
        string property, string value)
    {
        await A_program_connects_with_the_settings_that_its_machine_gets();
        var settings = _broker.Settings();
        settings.Set(property, value);
        using var admin = KafkaClients.Admin(new AdminClientConfig(settings));

        Assert.Throws<KafkaException>(() => admin.GetMetadata(TimeSpan.FromSeconds(5)));
    }

    [Theory]
    [InlineData(9092)]
    [InlineData(9093)]
    [InlineData(9094)]
    public async Task The_port_of_programs_controllers_and_brokers_has_a_certificate_that_names_its_address(int port)
    {
        await A_program_connects_with_the_settings_that_its_machine_gets();
        using var connection = new TcpClient();
        await connection.ConnectAsync(_broker.Address, port, TestContext.Current.CancellationToken);
        await using var secure = new SslStream(connection.GetStream());

        await secure.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions
            {
                TargetHost = _broker.Address,
                CertificateChainPolicy = new X509ChainPolicy
                {
                    TrustMode = X509ChainTrustMode.CustomRootTrust,
                    RevocationMode = X509RevocationMode.NoCheck,
                    CustomTrustStore =
                    {
                        X509CertificateLoader.LoadCertificateFromFile(Path.Combine(_broker.Folder, "ca.pem")),
                    },
                },
            },
            TestContext.Current.CancellationToken);

        Assert.Equal(System.Security.Authentication.SslProtocols.Tls13, secure.SslProtocol);
    }

    private static int Count(IAdminClient admin)
    {
        try
        {
            return admin.GetMetadata(TimeSpan.FromSeconds(5)).Brokers.Count;
        }
        catch (KafkaException)
        {
            return 0;
        }
    }
}
