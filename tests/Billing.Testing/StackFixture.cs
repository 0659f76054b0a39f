using Billing.Client;
using Billing.LocalStack;
using Billing.LocalStack.Kafka;
using Billing.V1;
using Grpc.Net.Client;
using Npgsql;

namespace Billing.Testing;

/// <summary>Receives the telemetry of the services of a stack.</summary>
public interface ITelemetryReceiver : IAsyncDisposable
{
    /// <summary>The settings of the services that make them send their telemetry.</summary>
    IReadOnlyDictionary<string, string> Settings { get; }
}

/// <summary>A whole stack of real processes, shared by the tests of one transport.</summary>
/// <param name="options">The services of the stack and their settings.</param>
/// <param name="watch">Starts the receiver of the services' telemetry; null for none.</param>
public abstract class StackFixture(StackOptions options, Func<Task<ITelemetryReceiver>>? watch = null) : IAsyncLifetime
{
    private readonly List<IDisposable> _clients = [];
    private BillingStack? _stack;

    public BillingStack Stack => _stack ?? throw new InvalidOperationException("The stack was not started.");

    /// <summary>The telemetry of the services; null without a receiver.</summary>
    public ITelemetryReceiver? Watch { get; private set; }

    /// <summary>The reason why the stack cannot run on this machine; null if it can.</summary>
    public string? Missing { get; protected init; }

    /// <summary>The Npgsql connection string of the event store.</summary>
    public string ConnectionString => Stack.ConnectionString;

    public async ValueTask InitializeAsync()
    {
        if (Missing is null)
        {
            Watch = watch is null ? null : await watch();
            var settings = options.Settings.Concat(Watch?.Settings ?? new Dictionary<string, string>()).ToDictionary();
            _stack = await BillingStack.StartAsync(
                options with { Settings = settings }, new Progress<string>(), CancellationToken.None);
        }
    }

    public async ValueTask DisposeAsync()
    {
        _clients.ForEach(c => c.Dispose());
        if (_stack is not null)
        {
            await _stack.DisposeAsync();
        }
        if (Watch is not null)
        {
            await Watch.DisposeAsync();
        }
        GC.SuppressFinalize(this);
    }

    /// <summary>Creates the generated gRPC client of one proxy.</summary>
    public BillingService.BillingServiceClient Proxy(int index = 0)
    {
        var channel = Keep(GrpcChannel.ForAddress(Stack.ProxyAddresses[index % Stack.ProxyAddresses.Count]));
        return new BillingService.BillingServiceClient(channel);
    }

    /// <summary>Creates the SDK's client with all proxies.</summary>
    public BillingClient Client(TimeSpan? deadline = null) =>
        Keep(new BillingClient(ClientOptions(deadline), TimeProvider.System));

    /// <summary>Creates the SDK's client for operators, with all proxies.</summary>
    public BillingAdminClient Admin() => Keep(new BillingAdminClient(ClientOptions(), TimeProvider.System));

    /// <summary>Keeps a client until the stack is disposed.</summary>
    protected T Keep<T>(T client)
        where T : IDisposable
    {
        _clients.Add(client);
        return client;
    }

    private BillingClientOptions ClientOptions(TimeSpan? deadline = null)
    {
        var clientOptions = new BillingClientOptions { Deadline = deadline ?? TimeSpan.FromSeconds(60) };
        foreach (var address in Stack.ProxyAddresses)
        {
            clientOptions.Proxies.Add(address);
        }
        return clientOptions;
    }

    /// <summary>Starts the services that have ended, and waits until they are ready.</summary>
    public async Task RestartEndedServicesAsync()
    {
        foreach (var ended in Stack.Services.Where(s => s.Process.HasExited).ToList())
        {
            await Stack.AddAsync(ended.Role, ended.Number, CancellationToken.None);
        }
    }

    /// <summary>Counts the stored events of an account, for all payment types.</summary>
    public Task<long> CountEventsAsync(string account) => CountAsync("count(*)", "stream_id like '%/' || $1", account);

    /// <summary>Counts those of some accounts that have stored events, for any payment type.</summary>
    public Task<long> CountStoredAsync(IReadOnlyCollection<string> accounts) =>
        CountAsync(
            "count(distinct split_part(stream_id, '/', 2))",
            "split_part(stream_id, '/', 2) = any($1)", accounts.ToArray());

    private async Task<long> CountAsync(string counted, string condition, object value)
    {
        await using var database = NpgsqlDataSource.Create(ConnectionString);
        await using var count = database.CreateCommand($"select {counted} from billing.mt_events where {condition}");
        count.Parameters.AddWithValue(value);
        return (long)(await count.ExecuteScalarAsync())!;
    }

    /// <summary>Creates a payment, by default to an account that no other test uses.</summary>
    public static MakePaymentRequest Payment(
        string? account = null, decimal amount = 10, string currency = "USD",
        PaymentType type = PaymentType.Visa) => new()
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = account ?? NewAccount(),
            PaymentType = type,
            Amount = Contracts.MoneyExtensions.ToMoney(amount, currency),
        };

    public static string NewAccount() => "test-" + Guid.NewGuid().ToString("N")[..12];
}

/// <summary>A stack over its own Kafka.</summary>
public abstract class KafkaFixture : StackFixture
{
    protected KafkaFixture(StackOptions options, Func<Task<ITelemetryReceiver>>? watch = null)
        : base(options, watch)
    {
        Missing = KafkaPrograms.FindHome() is null
            ? "Kafka is not available: set KAFKA_HOME to its folder or BILLING_KAFKA_ARCHIVE to its archive"
            : null;
    }
}
