using Billing.Cli.Stack;
using Billing.Cli.Topology;
using Billing.Client;
using Billing.IntegrationTests.Telemetry;
using Billing.V1;
using Grpc.Net.Client;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>A whole stack of real processes, shared by the tests of one transport.</summary>
public abstract class StackFixture(StackOptions options) : IAsyncLifetime
{
    private readonly List<IDisposable> _clients = [];
    private BillingStack? _stack;
    private OtlpReceiver? _telemetry;

    public BillingStack Stack => _stack ?? throw new InvalidOperationException("The stack was not started.");

    /// <summary>What its services send over OTLP: traces of the calls that ask for one, logs, metrics.</summary>
    public OtlpReceiver Telemetry => _telemetry ?? throw new InvalidOperationException("The stack was not started.");

    /// <summary>Why the stack cannot run here; null where it does.</summary>
    public string? Missing { get; protected init; }

    /// <summary>Npgsql's connection string of the event store.</summary>
    public string ConnectionString => Stack.ConnectionString;

    public async ValueTask InitializeAsync()
    {
        if (Missing is null)
        {
            _telemetry = await OtlpReceiver.StartAsync();
            _stack = await BillingStack.StartAsync(options with { Settings = Watched(options.Settings, _telemetry) }, new Progress<string>(), CancellationToken.None);
        }
    }

    public async ValueTask DisposeAsync()
    {
        _clients.ForEach(c => c.Dispose());
        if (_stack is not null)
        {
            await _stack.DisposeAsync();
        }
        if (_telemetry is not null)
        {
            await _telemetry.DisposeAsync();
        }
        GC.SuppressFinalize(this);
    }

    /// <summary>The plain gRPC client of one proxy.</summary>
    public V1.Billing.BillingClient Proxy(int index = 0)
    {
        var channel = GrpcChannel.ForAddress(Stack.ProxyAddresses[index % Stack.ProxyAddresses.Count]);
        _clients.Add(channel);
        return new V1.Billing.BillingClient(channel);
    }

    /// <summary>The SDK's client over all proxies.</summary>
    public BillingClient Client(TimeSpan? deadline = null)
    {
        var clientOptions = new BillingClientOptions { Deadline = deadline ?? TimeSpan.FromSeconds(60) };
        foreach (var address in Stack.ProxyAddresses)
        {
            clientOptions.Proxies.Add(address);
        }
        var client = new BillingClient(clientOptions, TimeProvider.System);
        _clients.Add(client);
        return client;
    }

    /// <summary>Events that the store holds of an account, whatever its payment type.</summary>
    public async Task<long> CountEventsAsync(string account)
    {
        await using var database = NpgsqlDataSource.Create(ConnectionString);
        await using var count = database.CreateCommand("select count(*) from billing.mt_events where stream_id like '%/' || $1");
        count.Parameters.AddWithValue(account);
        return (long)(await count.ExecuteScalarAsync())!;
    }

    private static Dictionary<string, string> Watched(IReadOnlyDictionary<string, string> settings, OtlpReceiver telemetry) => new(settings)
    {
        ["Billing__Telemetry__OtlpEndpoint"] = telemetry.Grpc,
        ["Billing__Telemetry__TraceRatio"] = "0",
        ["OTEL_BSP_SCHEDULE_DELAY"] = "100",
        ["OTEL_BLRP_SCHEDULE_DELAY"] = "100",
        ["OTEL_METRIC_EXPORT_INTERVAL"] = "3000",
    };

    /// <summary>A payment to an account that no other test uses.</summary>
    public static MakePaymentRequest Payment(
        string? account = null, decimal amount = 10, string currency = "USD", PaymentType type = PaymentType.Visa) => new()
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = account ?? NewAccount(),
            PaymentType = type,
            Amount = Contracts.MoneyExtensions.ToMoney(amount, currency),
        };

    public static string NewAccount() => "test-" + Guid.NewGuid().ToString("N")[..12];
}

/// <summary>A stack over a Kafka of its own.</summary>
public abstract class KafkaFixture : StackFixture
{
    protected KafkaFixture(StackOptions options)
        : base(options)
    {
        Missing = KafkaPrograms.FindHome() is null
            ? "no Kafka is at hand: name its folder in KAFKA_HOME or its archive in BILLING_KAFKA_ARCHIVE"
            : null;
    }
}

/// <summary>Two proxies, two payment backends and two balance backends over a Kafka of their own.</summary>
public sealed class KafkaStack() : KafkaFixture(new StackOptions { Proxies = 2, PaymentBackends = 2, BalanceBackends = 2 });

/// <summary>The same in one process, over queues in memory.</summary>
public sealed class EmbeddedStack() : StackFixture(new StackOptions { Kafka = "embedded", PaymentBackends = 2, BalanceBackends = 2 });
