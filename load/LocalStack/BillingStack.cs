using System.Collections.Frozen;
using System.Globalization;
using Billing.LocalStack.Credentials;
using Billing.LocalStack.Kafka;
using Billing.LocalStack.Postgres;
using Billing.LocalStack.Processes;
using Billing.Messaging.Kafka;
using Billing.Messaging.Kafka.Clients;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace Billing.LocalStack;

/// <summary>The whole system as processes on this machine: PostgreSQL, Kafka, proxies, payment and balance backends.</summary>
public sealed class BillingStack : IAsyncDisposable
{
    // The stack's own servers run when its services start; on a slow machine they may still answer late.
    private static readonly string StartTimeout = ChildProcess.Patience.ToString();

    private static readonly TimeSpan StopBound = TimeSpan.FromSeconds(15);

    private readonly Lock _gate = new();
    private readonly StackOptions _options;
    private readonly FreePorts _ports;
    private LocalPostgres? _postgres;
    private LocalKafka? _kafka;
    private string? _brokers;

    // Fixed when the stack starts: every proxy must know the same backends, including those that are down.
    private string[] _backendAddresses = [];

    // Replaced as a whole, so that an enumeration sees one state while services are added and removed concurrently.
    private volatile IReadOnlyList<ServiceProcess> _services = [];

    private BillingStack(StackOptions options, StackFolder folder, FreePorts ports)
    {
        _options = options;
        _ports = ports;
        Folder = folder;
    }

    /// <summary>The folder of the data and logs.</summary>
    public StackFolder Folder { get; }

    /// <summary>The transport of commands: <c>kafka</c>, <c>embedded</c> or <c>direct</c>.</summary>
    public string Transport => IsDirect ? "direct" : _brokers is null ? "embedded" : "kafka";

    /// <summary>The protocol between proxies and backends over <c>direct</c>; null with other transports.</summary>
    public string? Protocol => IsDirect ? _options.Protocol : null;

    /// <summary>Addresses of the brokers; null without Kafka.</summary>
    public string? BootstrapServers => _brokers;

    /// <summary>Npgsql's connection string of the event store.</summary>
    public string ConnectionString { get; private set; } = "";

    /// <summary>The PostgreSQL server that the stack started; null if it uses another one.</summary>
    public LocalPostgres? Postgres => _postgres;

    /// <summary>The Kafka cluster that the stack started; null if it uses none or another one.</summary>
    public LocalKafka? Kafka => _kafka;

    /// <summary>The credentials of the proxies and their callers; null without authentication.</summary>
    public StackCredentials? Credentials { get; private init; }

    /// <summary>The services, proxies first.</summary>
    public IReadOnlyList<ServiceProcess> Services => _services;

    /// <summary>Addresses of the proxies.</summary>
    public IReadOnlyList<string> ProxyAddresses => [.. _services.Where(s => s.AcceptsCalls).Select(s => s.Address)];

    /// <summary>REST addresses of the proxies.</summary>
    public IReadOnlyList<string> RestAddresses => [.. _services.Select(s => s.RestAddress).OfType<string>()];

    /// <summary>Addresses on which the proxies serve operators; empty if the proxies have no separate address for that.</summary>
    public IReadOnlyList<string> AdminAddresses => [.. _services.Select(s => s.AdminAddress).OfType<string>()];

    /// <summary>Addresses (<c>host:port</c>) on which the backends listen for commands over <c>direct</c>; empty with other
    /// transports.</summary>
    public IReadOnlyList<string> BackendAddresses => _backendAddresses;

    /// <summary>Every process of the stack.</summary>
    public IEnumerable<ChildProcess> Processes =>
        _services.Select(s => s.Process)
            .Concat(_kafka?.Processes ?? [])
            .Concat(_postgres?.Process is { } postgres ? [postgres] : []);

    /// <summary>The services of one role.</summary>
    public IEnumerable<ServiceProcess> Of(ServiceRole role) => _services.Where(s => s.Role == role);

    /// <summary>Starts everything and returns when every service is ready.</summary>
    /// <exception cref="StackException">Something could not be started; nothing is left running.</exception>
    public static async Task<BillingStack> StartAsync(
        StackOptions options, IProgress<string> progress, CancellationToken cancellationToken)
    {
        var folder = options.Detached ? StackFolder.CreateKept() : StackFolder.Create();
        var stack = new BillingStack(options, folder, new FreePorts())
        {
            Credentials = options.Secured
                ? StackCredentials.CreateIn(options.CredentialsFolder ?? Path.Combine(folder.FullName, "credentials"), TimeProvider.System)
                : null,
        };
        try
        {
            // First, so that a port that is in use fails the start before anything was started.
            stack._ports.Take(options.FixedPorts);
            await Task.WhenAll(
                stack.StartPostgresAsync(progress, cancellationToken), stack.StartKafkaAsync(progress, cancellationToken));
            await stack.StartServicesAsync(progress, cancellationToken);
            return stack;
        }
        catch
        {
            await stack.AbandonAsync();
            throw;
        }
    }

    /// <summary>Starts one more service, or restarts one that has ended on its previous port, and waits until it is ready.
    /// </summary>
    /// <param name="role">Its role.</param>
    /// <param name="number">Its number within the role, from 1.</param>
    /// <param name="cancellationToken">Cancels the wait; the service keeps running.</param>
    /// <param name="settings">Settings of this service only, keyed by environment variable; they override all others.</param>
    /// <exception cref="StackException">It ended, or was not ready in time.</exception>
    public async Task<ServiceProcess> AddAsync(
        ServiceRole role, int number, CancellationToken cancellationToken, IReadOnlyDictionary<string, string>? settings = null)
    {
        var service = Launch(role, number, settings);
        try
        {
            await service.WaitUntilReadyAsync(cancellationToken);
            return service;
        }
        catch (StackException)
        {
            service.Process.Kill();
            throw;
        }
    }

    /// <summary>Stops a service gracefully and removes it from <see cref="Services"/>.</summary>
    public async Task RemoveAsync(ServiceProcess service)
    {
        await service.Process.StopAsync(StopBound);
        lock (_gate)
        {
            _services = [.. _services.Where(s => s != service)];
        }
        await service.Process.DisposeAsync();
    }

    /// <summary>Stops everything, services first, and deletes the data, unless the stack is detached.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!_options.Detached)
        {
            // Proxies first, so that the calls they have accepted are still answered.
            await StopAllAsync(s => s.AcceptsCalls);
            await StopAllAsync(s => !s.AcceptsCalls);
        }
        foreach (var service in _services)
        {
            await service.Process.DisposeAsync();
        }
        await DisposeServersAsync();
    }

    private async Task AbandonAsync()
    {
        foreach (var process in Processes.ToList())
        {
            process.Kill();
        }
        foreach (var service in _services)
        {
            await service.Process.DisposeAsync();
        }
        await DisposeServersAsync();
        if (_options.Detached)
        {
            await StackFolder.Adopt(Folder.FullName).DisposeAsync();
        }
    }

    private async Task DisposeServersAsync()
    {
        await Task.WhenAll(
            _kafka?.DisposeAsync().AsTask() ?? Task.CompletedTask, _postgres?.DisposeAsync().AsTask() ?? Task.CompletedTask);
        await Folder.DisposeAsync();
        _ports.Dispose();
    }

    private Task<bool[]> StopAllAsync(Func<ServiceProcess, bool> which) =>
        Task.WhenAll(_services.Where(which).Select(s => s.Process.StopAsync(StopBound)));

    private async Task StartPostgresAsync(IProgress<string> progress, CancellationToken cancellationToken)
    {
        if (_options.Postgres != "auto")
        {
            ConnectionString = _options.Postgres;
            return;
        }
        _postgres = await LocalPostgres.StartNewAsync(
            Folder, _ports, _options.Detached, progress, Credentials?.Postgres, _options.PostgresSettings, cancellationToken);
        ConnectionString = _postgres.ConnectionString;
    }

    private async Task StartKafkaAsync(IProgress<string> progress, CancellationToken cancellationToken)
    {
        if (IsDirect)
        {
            return;
        }
        switch (_options.Kafka)
        {
            case "embedded":
                break;
            case "auto" when KafkaPrograms.FindHome() is null:
                progress.Report("Kafka is not installed: using the embedded transport");
                break;
            case "auto":
                _kafka = await LocalKafka.StartNewAsync(
                    Folder, _ports, _options.Brokers, _options.Detached, progress, _options.BrokerRelayPorts, Credentials?.Brokers,
                    _options.BrokerJavaOptions, cancellationToken);
                _brokers = _kafka.BootstrapServers;
                if (Credentials is not null)
                {
                    await AllowServicesAsync(_brokers);
                }
                break;
            default:
                _brokers = _options.Kafka;
                break;
        }
    }

    // The services themselves may only create their reply topics.
    private async Task AllowServicesAsync(string brokers)
    {
        var options = new KafkaOptions { BootstrapServers = brokers };
        options.Partitions = Partitions > 0 ? Partitions : options.Partitions;
        await new KafkaTopics(Options.Create(options), TimeProvider.System, NullLogger<KafkaTopics>.Instance).EnsureSharedAsync();
        using var list = new StreamReader(typeof(BillingStack).Assembly.GetManifestResourceStream("access.txt")!);
        await KafkaAccess.AllowAsync(options, KafkaAccess.Parse((await list.ReadToEndAsync()).Split('\n')));
    }

    private static string PrincipalOf(ServiceRole role) => role switch
    {
        ServiceRole.Proxy => "proxy",
        ServiceRole.BalanceBackend => "balance-backend",
        _ => "payment-backend",
    };

    private async Task StartServicesAsync(IProgress<string> progress, CancellationToken cancellationToken)
    {
        progress.Report("Starting the services");
        if (Transport == "embedded")
        {
            await AddAsync(ServiceRole.Embedded, 1, cancellationToken);
            return;
        }
        if (IsDirect)
        {
            _backendAddresses = [.. Enumerable.Range(0, _options.PaymentBackends)
                .Select(_ => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{_ports.Take()}"))];
            LaunchAll(ServiceRole.DirectBackend, _options.PaymentBackends);
        }
        else
        {
            LaunchAll(ServiceRole.PaymentBackend, _options.PaymentBackends);
            LaunchAll(ServiceRole.BalanceBackend, _options.BalanceBackends);
        }
        LaunchAll(ServiceRole.Proxy, _options.Proxies);
        await Task.WhenAll(_services.Select(s => s.WaitUntilReadyAsync(cancellationToken)));
    }

    private void LaunchAll(ServiceRole role, int count)
    {
        for (var number = 1; number <= count; number++)
        {
            Launch(role, number);
        }
    }

    private ServiceProcess Launch(ServiceRole role, int number, IReadOnlyDictionary<string, string>? own = null)
    {
        var isFront = ServiceProcess.RoleAcceptsCalls(role);
        var previous = Of(role).FirstOrDefault(s => s.Number == number);
        var port = previous is not null ? new Uri(previous.Address).Port
            : isFront && _options.Port != 0 ? _options.Port + number - 1 : _ports.Take();
        var settings = Settings(role, number);
        if (isFront)
        {
            AddFrontSettings(settings, number, previous);
        }
        foreach (var (name, value) in _options.Settings.Concat(own ?? FrozenDictionary<string, string>.Empty))
        {
            settings[name] = value;
        }
        var service = ServiceProcess.Start(role, IsDirect, number, port, Folder, settings, _options.Detached, Credentials);
        lock (_gate)
        {
            _services = [.. _services.Where(s => s.Role != role || s.Number != number).Append(service).OrderBy(s => s.Role).ThenBy(s => s.Number)];
        }
        return service;
    }

    private int Partitions => _options.Partitions > 0 || _kafka is null
        ? _options.Partitions
        : _options.FewestPartitions;

    private bool IsDirect => _options.Transport == "direct";

    private Dictionary<string, string?> Settings(ServiceRole role, int number)
    {
        var settings = new Dictionary<string, string?>(StringComparer.Ordinal);
        if (_brokers is not null)
        {
            settings["Billing__Kafka__BootstrapServers"] = _brokers;
        }
        if (_kafka is not null && Credentials is not null)
        {
            settings["Billing__Kafka__BootstrapServers"] = _kafka.SecuredServers;
            settings["Billing__SecretsFolder"] = Credentials.SecretsOf(PrincipalOf(role));
        }
        if (_kafka is not null)
        {
            // The brokers of the stack allow shorter session timeouts than Kafka's defaults do. The timeout is longer than the
            // fail-over of a broker, so that a group whose coordinator dies need not rebalance.
            settings["Billing__Kafka__SessionTimeout"] = "00:00:03.500";
            settings["Billing__Kafka__HeartbeatInterval"] = "00:00:00.500";
            settings["Billing__Kafka__StartTimeout"] = StartTimeout;
        }
        if (Partitions is > 0 and var partitions)
        {
            settings["Billing__Kafka__Partitions"] = partitions.ToString(CultureInfo.InvariantCulture);
        }
        if (IsDirect)
        {
            settings["Billing__Direct__Protocol"] = _options.Protocol;
        }
        switch (role)
        {
            case ServiceRole.Proxy when IsDirect:
                settings["Billing__Direct__Backends"] = string.Join(',', _backendAddresses);
                break;
            case ServiceRole.Proxy:
                break;
            default:
                AddBackendSettings(settings, role, number);
                break;
        }
        return settings;
    }

    private void AddFrontSettings(Dictionary<string, string?> settings, int number, ServiceProcess? previous)
    {
        settings[ServiceProcess.RestUrl] = previous?.RestAddress ?? NewAddress(_options.RestPort == 0 ? _ports.Take() : _options.RestPort + number - 1);
        if (Credentials is null)
        {
            return;
        }
        settings[ServiceProcess.AdminUrl] = previous?.AdminAddress ?? NewAddress(_ports.Take());
        foreach (var (name, value) in Credentials.ProxySettings)
        {
            settings[name] = value;
        }
    }

    private string NewAddress(int port) =>
        string.Create(CultureInfo.InvariantCulture, $"{(Credentials is null ? "http" : "https")}://127.0.0.1:{port}");

    private void AddBackendSettings(Dictionary<string, string?> settings, ServiceRole role, int number)
    {
        settings["Billing__EventStore__ConnectionString"] = ConnectionString;
        settings["Billing__Jitter__Enabled"] = _options.Jitter ? "true" : "false";
        if (_postgres is not null)
        {
            settings["Billing__EventStore__StartTimeout"] = StartTimeout;
        }
        switch (role)
        {
            case ServiceRole.DirectBackend when number > _backendAddresses.Length:
                throw new StackException($"The proxies distribute the accounts over {_backendAddresses.Length} backends; there is no backend {number}.");
            case ServiceRole.DirectBackend:
                settings["Billing__Direct__Listen"] = _backendAddresses[number - 1];
                break;
            case ServiceRole.Embedded:
                settings["Billing__Embedded__PaymentBackends"] = _options.PaymentBackends.ToString(CultureInfo.InvariantCulture);
                settings["Billing__Embedded__BalanceBackends"] = _options.BalanceBackends.ToString(CultureInfo.InvariantCulture);
                break;
            default:
                settings["Billing__Backend__Role"] = role == ServiceRole.BalanceBackend ? "Balances" : "Payments";
                break;
        }
    }
}
