using Billing.Hosting.Telemetry;
using Billing.LocalStack;
using Billing.Measuring.Processes;

namespace Billing.Measuring.Profiling;

/// <summary>Measures the resources that a stack and its load drivers used during a load. The slow readings are made first before the load
/// and last after it, so that the processor times cover the load only.</summary>
internal sealed class PlatformMeter(BillingStack stack, BrokerRequests requests, StatementTimes statements) : IDisposable
{
    private readonly HttpClient _http = new();
    private IReadOnlyCollection<(string Name, int ProcessId)> _measured = [];
    private BrokerCounts? _countsBefore;
    private Dictionary<string, RuntimeUse> _runtimesBefore = [];
    private ProcessorTimes? _timesBefore;

    /// <summary>The resources that each role used in the last measurement.</summary>
    public IReadOnlyList<ProgramUse> Programs { get; private set; } = [];

    /// <summary>The work of PostgreSQL in the last measurement.</summary>
    public DatabaseUse Database { get; private set; } = new(0, 0, []);

    /// <summary>The counts of the broker in the last measurement.</summary>
    public BrokerCounts Broker { get; private set; } = BrokerCounts.Parse([]);

    /// <summary>The waits within the Kafka clients at the end of the last measurement.</summary>
    public IReadOnlyList<ClientWaits> Clients { get; private set; } = [];

    /// <summary>Called when the drivers have warmed up.</summary>
    public async Task BeginAsync(IReadOnlyCollection<(string Name, int ProcessId)> drivers, CancellationToken cancellationToken)
    {
        _measured = [.. drivers, .. Processes.Programs.Of(stack)];
        _countsBefore = await requests.ReadAsync(cancellationToken);
        _runtimesBefore = Runtimes(await MetricsAsync(cancellationToken));
        await statements.BeginAsync(cancellationToken);
        _timesBefore = ProcessorTimes.Read(_measured);
    }

    /// <summary>Called when the load has ended, and the drivers still run.</summary>
    public async Task EndAsync()
    {
        var programs = ProcessorTimes.Read(_measured).Since(_timesBefore!);
        Database = await statements.EndAsync(CancellationToken.None);
        var metrics = await MetricsAsync(CancellationToken.None);
        var runtimes = Runtimes(metrics);
        Clients = ClientWaits.Parse(metrics);
        Programs = [.. programs.Select(p => runtimes.TryGetValue(p.Role, out var now) ? p with { Runtime = now - _runtimesBefore[p.Role] } : p)];
        Broker = (await requests.ReadAsync(CancellationToken.None)).Since(_countsBefore!);
    }

    public void Dispose() => _http.Dispose();

    /// <summary>Reads the current metrics of each service, with its role.</summary>
    private async Task<List<(string Role, string Metrics)>> MetricsAsync(CancellationToken cancellationToken)
    {
        var metrics = new List<(string, string)>();
        foreach (var service in stack.Services)
        {
            // A proxy accepts HTTP/1.1 on its REST address only.
            var address = new Uri((service.RestAddress ?? service.Address) + ServiceTelemetry.MetricsPath);
            metrics.Add((Processes.Programs.Role(service.Process.Name), await _http.GetStringAsync(address, cancellationToken)));
        }
        return metrics;
    }

    /// <summary>Adds up the counts of the .NET runtimes, by role.</summary>
    private static Dictionary<string, RuntimeUse> Runtimes(IEnumerable<(string Role, string Metrics)> services)
    {
        var use = new Dictionary<string, RuntimeUse>(StringComparer.Ordinal);
        foreach (var (role, metrics) in services)
        {
            if (RuntimeUse.Parse(metrics) is { } its)
            {
                use[role] = use.TryGetValue(role, out var others) ? others + its : its;
            }
        }
        return use;
    }
}
