using System.Globalization;
using System.Text;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Billing.Messaging;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Billing.V1;
using Billing.Webhooks;
using Billing.Wire.V1;
using Confluent.Kafka;
using Google.Protobuf;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using WireFormat = Billing.Messaging.WireFormat;

namespace Billing.IntegrationTests.Webhooks;

/// <summary>A broker with the platform's topics, PostgreSQL, and services that send events, as processes.</summary>
public sealed class WebhookPlatform : IAsyncLifetime
{
    public const string Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    private readonly StackFolder _folder = StackFolder.Create();
    private readonly List<ChildProcess> _services = [];
    private LocalKafka? _kafka;
    private LocalPostgres? _postgres;
    private IProducer<string, byte[]>? _producer;
    private int _started;

    public string? Missing { get; } = KafkaPrograms.FindHome() is null
        ? "Kafka is not available: set KAFKA_HOME to its folder or BILLING_KAFKA_ARCHIVE to its archive"
        : null;

    public FreePorts Ports { get; } = new();

    public StackFolder Folder => _folder;

    public LocalKafka Kafka => _kafka ?? throw new InvalidOperationException("Kafka was not started.");

    public LocalPostgres Postgres => _postgres ?? throw new InvalidOperationException("PostgreSQL was not started.");

    public async ValueTask InitializeAsync()
    {
        if (Missing is not null)
        {
            return;
        }
        _postgres = await LocalPostgres.StartNewAsync(_folder, Ports);
        _kafka = await LocalKafka.StartNewAsync(_folder, Ports);
        var options = Options.Create(new KafkaOptions { BootstrapServers = Kafka.BootstrapServers });
        await new KafkaTopics(options, TimeProvider.System, NullLogger<KafkaTopics>.Instance).EnsureSharedAsync();
        _producer = KafkaClients.Producer<string, byte[]>(
            new ProducerConfig
            {
                BootstrapServers = Kafka.BootstrapServers,
                Partitioner = Partitioner.Murmur2Random,
                EnableIdempotence = true,
            });
    }

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        _producer?.Dispose();
        if (_kafka is not null)
        {
            await _kafka.DisposeAsync();
        }
        if (_postgres is not null)
        {
            await _postgres.DisposeAsync();
        }
        await _folder.DisposeAsync();
        Ports.Dispose();
    }

    /// <summary>Starts a service that sends to one receiver, and waits until it is ready.</summary>
    internal async Task<(ChildProcess Process, string Address)> StartAsync(
        string schema, string url, bool ready = true, params (string Name, string Value)[] settings)
    {
        var address = $"http://127.0.0.1:{Ports.Take()}";
        var name = $"webhooks-{++_started}";
        var environment = new Dictionary<string, string?>
        {
            ["ASPNETCORE_URLS"] = address,
            ["Billing__Kafka__BootstrapServers"] = Kafka.BootstrapServers,
            ["Billing__Kafka__SessionTimeout"] = "00:00:03.500",
            ["Billing__Kafka__HeartbeatInterval"] = "00:00:00.500",
            // Until then a service that starts looks for brokers, and says nothing.
            ["Billing__Kafka__StartTimeout"] = "00:00:02",
            ["Billing__Webhooks__ConnectionString"] = Postgres.ConnectionString,
            ["Billing__Webhooks__Schema"] = schema,
            ["Billing__Webhooks__AllowedNetworks"] = "127.0.0.0/8",
            ["Billing__Webhooks__RetryDelay"] = "00:00:00.200",
            ["Billing__Webhooks__RetryDelayMax"] = "00:00:01",
            ["Billing__Webhooks__Receivers__shop__Url"] = url,
            ["Billing__Webhooks__Receivers__shop__Secret"] = Secret,
            ["Billing__Webhooks__Receivers__shop__AllowHttp"] = "true",
        };
        foreach (var (setting, value) in settings)
        {
            environment["Billing__Webhooks__" + setting] = value;
        }
        var service = ChildProcess.Start(new ChildProcessStart(
            name, DotnetProgram.Launcher, [DotnetProgram.FileOf("Billing.Webhooks")], _folder.LogFile(name))
        {
            Environment = environment,
        });
        _services.Add(service);
        if (ready)
        {
            await service.WaitUntilAnsweredAsync(address + "/health/ready", TestContext.Current.CancellationToken);
        }
        return (service, address);
    }

    /// <summary>Stops every service.</summary>
    public async Task StopAsync()
    {
        foreach (var service in _services)
        {
            await service.StopAsync(TimeSpan.FromSeconds(40));
            await service.DisposeAsync();
        }
        _services.Clear();
    }

    /// <summary>Publishes events of accounts, one version of all of them after the other.</summary>
    internal async Task PublishAsync(IReadOnlyCollection<string> accounts, long from, long to)
    {
        for (var version = from; version <= to; version++)
        {
            await Task.WhenAll(accounts.Select(account => PublishAsync(Event(account, version))));
        }
    }

    internal async Task<TopicPartitionOffset> PublishAsync(Event recorded) =>
        (await _producer!.ProduceAsync(Topics.Events, new Message<string, byte[]>
        {
            Key = recorded.StreamId,
            Value = recorded.ToByteArray(),
            Headers = new Headers { { WireFormat.VersionHeader, Encoding.ASCII.GetBytes("1") } },
        })).TopicPartitionOffset;

    internal static Event Event(string account, long version) => new()
    {
        StreamId = $"visa/{account}",
        Version = version,
        TransactionId = Guid.NewGuid().ToString(),
        DecidedUnixUs = 1_790_000_000_000_000 + version,
        Balance = new Money { CurrencyCode = "USD", Units = version },
        PaymentAccepted = new PaymentAccepted { Amount = new Money { CurrencyCode = "USD", Units = 1 } },
    };

    /// <summary>Names of accounts that no other test uses.</summary>
    internal static string[] NewAccounts(int count)
    {
        var mark = Guid.NewGuid().ToString("N")[..12];
        return
        [
            .. Enumerable.Range(0, count)
                .Select(number => string.Create(CultureInfo.InvariantCulture, $"{mark}-{number}")),
        ];
    }

    /// <summary>A schema that no other test uses.</summary>
    internal static string NewSchema() => "webhooks_" + Guid.NewGuid().ToString("N");

    internal WebhookStore Store(string schema) =>
        new(Options.Create(new WebhookOptions { ConnectionString = Postgres.ConnectionString, Schema = schema }));
}
