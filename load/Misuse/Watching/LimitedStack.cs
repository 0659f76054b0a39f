using Billing.LocalStack;
using Billing.LocalStack.Credentials;
using Billing.LocalStack.Processes;

namespace Billing.Misuse.Watching;

/// <summary>A stack whose services have the limits of the units that are shipped. Its first proxy has TLS, its second
/// has none; both ask for tokens.</summary>
internal sealed class LimitedStack : IAsyncDisposable
{
    /// <summary>Calls per second that each caller may make: without a limit, valid calls take what they
    /// need.</summary>
    public const int CallsPerSecond = 200;

    /// <summary>Calls that a caller may make at once: an attack with fewer is not refused for their number.</summary>
    public const int CallsAtOnce = 1_000;

    private const int ClearProxy = 2;

    private readonly HttpClient _http;
    private readonly Groups _groups;
    private readonly FreePorts _ports;

    private LimitedStack(BillingStack stack, Groups groups, FreePorts ports)
    {
        (Stack, _groups, _ports) = (stack, groups, ports);
        _http = new HttpClient(Credentials.Handler());
    }

    /// <summary>The stack.</summary>
    public BillingStack Stack { get; }

    /// <summary>Its credentials.</summary>
    public StackCredentials Credentials => Stack.Credentials!;

    /// <summary>Why the kernel does not hold the services to their memory; null if it does.</summary>
    public string? Unlimited => _groups.Missing;

    /// <summary>The group of hostile callers, which limits their processor time; null if it cannot be
    /// limited.</summary>
    public ControlGroup? Callers => _groups.Callers;

    /// <summary>Starts the stack.</summary>
    /// <exception cref="StackException">It could not be started.</exception>
    public static async Task<LimitedStack> StartAsync(
        IProgress<string> progress, CancellationToken cancellationToken)
    {
        var (groups, ports) = (new Groups(), new FreePorts());
        var clear = new Dictionary<string, string>
        {
            [ServiceProcess.Url] = $"http://127.0.0.1:{ports.Take()}",
            [ServiceProcess.RestUrl] = $"http://127.0.0.1:{ports.Take()}",
        };
        try
        {
            var stack = await BillingStack.StartAsync(
                new StackOptions
                {
                    Proxies = ClearProxy,
                    PaymentBackends = 1,
                    BalanceBackends = 1,
                    Secured = true,
                    GroupOf = groups.Of,
                    SettingsOf = (_, role, number) => SettingsOf(role, number, clear),
                },
                progress, cancellationToken);
            return new LimitedStack(stack, groups, ports);
        }
        catch
        {
            ports.Dispose();
            await groups.DisposeAsync();
            throw;
        }
    }

    /// <summary>The proxy with TLS, or the one without.</summary>
    public ServiceProcess Proxy(bool hasTls) =>
        Stack.Of(ServiceRole.Proxy).Single(proxy => proxy.Number == (hasTls ? 1 : ClearProxy));

    /// <summary>Number of processes that the kernel has ended so far because their service had too little
    /// memory.</summary>
    public long KernelKills(ServiceProcess service) => _groups.KillsOf(service);

    /// <summary>The most memory that the kernel lets a service have, in bytes; null for no limit.</summary>
    public long? MemoryMaxOf(ServiceProcess service) => _groups.MemoryMaxOf(service);

    /// <summary>What a proxy holds for its callers.</summary>
    /// <exception cref="HttpRequestException">It does not say.</exception>
    public async Task<Places> PlacesAsync(ServiceProcess proxy, CancellationToken cancellationToken) =>
        Places.Parse(await _http.GetStringAsync(proxy.AdminAddress + "/metrics", cancellationToken));

    /// <summary>Starts services that have ended again.</summary>
    /// <returns>Whether there were any.</returns>
    public async Task<bool> RestartEndedAsync(CancellationToken cancellationToken)
    {
        var ended = Stack.Services.Where(service => service.Process.HasExited).ToList();
        foreach (var service in ended)
        {
            await Stack.AddAsync(service.Role, service.Number, cancellationToken);
        }
        return ended.Count > 0;
    }

    /// <summary>Stops the stack.</summary>
    public async ValueTask DisposeAsync()
    {
        _http.Dispose();
        await Stack.DisposeAsync();
        _ports.Dispose();
        await _groups.DisposeAsync();
    }

    private static Dictionary<string, string> SettingsOf(
        ServiceRole role, int number, Dictionary<string, string> clear)
    {
        var settings = UnitLimits.Of(role).Environment.ToDictionary(StringComparer.Ordinal);
        if (role == ServiceRole.Proxy)
        {
            settings["Billing__Limits__RequestsPerSecond"] = $"{CallsPerSecond}";
            settings["Billing__Limits__Burst"] = $"{CallsAtOnce}";
            foreach (var (name, value) in clear.Where(_ => number == ClearProxy))
            {
                settings[name] = value;
            }
        }
        return settings;
    }

    /// <summary>The control groups of the services and of hostile callers.</summary>
    private sealed class Groups : IAsyncDisposable
    {
        // So that a processor and a half stay with the platform and the others on two.
        private const double ProcessorsOfCallers = 0.5;

        private readonly string _name = $"billing-misuse-{Environment.ProcessId}";
        private readonly Dictionary<(ServiceRole Role, int Number), ControlGroup> _services = [];

        public Groups()
        {
            try
            {
                Callers = ControlGroup.OfProcessors(_name, "callers", ProcessorsOfCallers);
            }
            catch (StackException e)
            {
                Missing = e.Message;
            }
        }

        public ControlGroup? Callers { get; }

        public string? Missing { get; private set; }

        public ControlGroup? Of(ServiceRole role, int number)
        {
            if (Missing is not null)
            {
                return null;
            }
            try
            {
                return _services.TryGetValue((role, number), out var group)
                    ? group
                    : _services[(role, number)] =
                        ControlGroup.OfMemory(_name, $"{role}-{number}", UnitLimits.Of(role).MemoryMax);
            }
            catch (StackException e)
            {
                Missing = e.Message;
                return null;
            }
        }

        public long KillsOf(ServiceProcess service) =>
            _services.TryGetValue((service.Role, service.Number), out var group) ? group.Kills : 0;

        public long? MemoryMaxOf(ServiceProcess service) =>
            _services.GetValueOrDefault((service.Role, service.Number))?.MemoryMaxOf(service.Process.Id);

        public async ValueTask DisposeAsync()
        {
            if (Callers is not null || _services.Count > 0)
            {
                await ControlGroup.RemoveAsync(_name);
            }
        }
    }
}
