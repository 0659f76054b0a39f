using BenchmarkDotNet.Attributes;
using Billing.Backends;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Hosting;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.Benchmarks;

/// <summary>Appends a batch of payments with their receipts to the benchmark's own PostgreSQL in one
/// transaction.</summary>
public class BatchAppend : IDisposable
{
    private readonly StackFolder _folder = StackFolder.Create();
    private readonly FreePorts _ports = new();
    private LocalPostgres? _postgres;
    private ServiceProvider? _services;
    private IAccountStore? _store;

    [Params(1, 10, 100, 1000)]
    public int Payments { get; set; }

    [GlobalSetup] // BenchmarkDotNet would not await a task.
    public void Setup() => SetUpAsync().GetAwaiter().GetResult();

    [Benchmark]
    public Task AppendAsync() =>
        _store!.AppendAsync([.. Enumerable.Range(0, Payments).Select(_ => NewPayment())], [], CancellationToken.None);

    [GlobalCleanup]
    public void CleanUp() => CleanUpAsync().GetAwaiter().GetResult();

    public void Dispose()
    {
        _ports.Dispose();
        GC.SuppressFinalize(this);
    }

    private static NewEvent NewPayment()
    {
        var id = Guid.NewGuid();
        var opened = Account.Opened(new OpeningLimits(new Dictionary<string, decimal> { ["USD"] = 10_000 }));
        return NewEvent.Of(
            "visa/" + id, new Payment(id, 12.34m, "USD").Decide(opened, DateTimeOffset.UnixEpoch), opened);
    }

    private async Task SetUpAsync()
    {
        _postgres = await LocalPostgres.StartNewAsync(_folder, _ports);
        _services = new ServiceCollection()
            .AddLogging()
            .AddBackendCore(new ConfigurationBuilder().AddInMemoryCollection(new Dictionary<string, string?>
            {
                [EventStoreOptions.Section + ":ConnectionString"] = _postgres.ConnectionString,
                [BackendOptions.Section + ":Role"] = nameof(BackendRole.Payments),
            }).Build())
            .BuildServiceProvider();
        await _services.EnsureEventStoreAsync(CancellationToken.None);
        _store = _services.DatabaseOf("visa/");
    }

    private async Task CleanUpAsync()
    {
        await _services!.DisposeAsync();
        await _postgres!.DisposeAsync();
        await _folder.DisposeAsync();
    }
}
