using Billing.LocalStack.Credentials;
using Billing.LocalStack.Processes;
using Billing.Operator.Credentials;
using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Net.Client;

namespace Billing.LocalStack;

/// <summary>The role of a service in the stack.</summary>
public enum ServiceRole
{
    /// <summary>Accepts calls.</summary>
    Proxy,

    /// <summary>Serves MakePayment.</summary>
    PaymentBackend,

    /// <summary>Serves CheckBalance.</summary>
    BalanceBackend,

    /// <summary>Serves both for its share of the accounts, called by the proxies without Kafka.</summary>
    DirectBackend,

    /// <summary>All of these in one process, without Kafka.</summary>
    Embedded,

    /// <summary>Sends events to receivers.</summary>
    Webhooks,
}

/// <summary>A running service of the stack.</summary>
public sealed class ServiceProcess
{
    /// <summary>The setting of the address on which a service listens, as an environment variable.</summary>
    public const string Url = "ASPNETCORE_URLS";

    /// <summary>The setting of a proxy's REST address, as an environment variable.</summary>
    public const string RestUrl = "Billing__Rest__Url";

    private static readonly TimeSpan ReconnectBackoff = TimeSpan.FromMilliseconds(50);

    /// <summary>The setting of a proxy's address for operators, as an environment variable.</summary>
    public const string AdminUrl = "Billing__Admin__Url";

    private readonly StackCredentials? _credentials;

    private ServiceProcess(
        ServiceRole role, int number, string address, IReadOnlyDictionary<string, string?> settings,
        StackCredentials? credentials, ChildProcess process)
    {
        _credentials = credentials;
        Role = role;
        Number = number;
        Address = address;
        RestAddress = settings.GetValueOrDefault(RestUrl);
        AdminAddress = settings.GetValueOrDefault(AdminUrl);
        Process = process;
    }

    /// <summary>Its role.</summary>
    public ServiceRole Role { get; }

    /// <summary>Its number within the role, from 1.</summary>
    public int Number { get; }

    /// <summary>The address on which it listens: a proxy for gRPC, a backend for health checks.</summary>
    public string Address { get; }

    /// <summary>The address on which a proxy listens for REST; null for a backend.</summary>
    public string? RestAddress { get; }

    /// <summary>The address on which a proxy serves operators; null if it has no separate address for that.</summary>
    public string? AdminAddress { get; }

    /// <summary>Whether it accepts calls from outside the stack.</summary>
    public bool AcceptsCalls => RoleAcceptsCalls(Role);

    /// <summary>Its process.</summary>
    public ChildProcess Process { get; }

    /// <summary>Returns whether services of a role accept calls from outside the stack.</summary>
    public static bool RoleAcceptsCalls(ServiceRole role) => role is ServiceRole.Proxy or ServiceRole.Embedded;

    /// <summary>Returns the user of the brokers that a service is.</summary>
    public static string UserOf(ServiceRole role, int number) => role switch
    {
        ServiceRole.Proxy => DeploymentCredentials.ProxyName(number),
        ServiceRole.BalanceBackend => "balance-backend",
        ServiceRole.Webhooks => "webhooks",
        _ => "payment-backend",
    };

    /// <summary>Starts a service; it may not be ready yet.</summary>
    /// <param name="settings">Its environment: they override those of the runtime and the address at the
    /// port.</param>
    /// <param name="group">The control group that it is in; that of this process if null.</param>
    /// <param name="programs">The folder of a release's programs (<see cref="Release.UnpackServicesAsync"/>); those
    /// that were built with this one if null.</param>
    /// <exception cref="StackException">It could not be started.</exception>
    public static ServiceProcess Start(
        ServiceRole role, bool isDirect, int number, int port, StackFolder folder,
        IReadOnlyDictionary<string, string?> settings, bool detached,
        StackCredentials? credentials = null, string? programs = null, ControlGroup? group = null)
    {
        var (name, program, side) = role switch
        {
            ServiceRole.Proxy when isDirect => ("proxy", "Billing.Rpc", "proxy"),
            ServiceRole.Proxy => ("proxy", "Billing.Proxy", null),
            ServiceRole.PaymentBackend => ("payments", "Billing.Backends", null),
            ServiceRole.BalanceBackend => ("balances", "Billing.Backends", null),
            ServiceRole.Webhooks => ("webhooks", "Billing.Webhooks", null),
            ServiceRole.DirectBackend => ("backend", "Billing.Rpc", "backend"),
            _ => ("embedded", "Billing.Embedded", null),
        };
        var address = settings.GetValueOrDefault(Url)
            ?? $"{(RoleAcceptsCalls(role) && credentials is not null ? "https" : "http")}://127.0.0.1:{port}";
        var label = $"{name}-{number}";
        string[] own = side is null ? [] : [side];
        var (file, arguments) = programs is null
            ? (DotnetProgram.Launcher, [DotnetProgram.FileOf(program), .. own])
            : (Path.Combine(programs, program, program), own);
        var process = ChildProcess.Start(new ChildProcessStart(label, file, arguments, folder.LogFile(label))
        {
            Environment = EnvironmentOf(settings, address),
            Group = group,
            Detached = detached,
        });
        return new ServiceProcess(role, number, address, settings, credentials, process);
    }

    private static Dictionary<string, string?> EnvironmentOf(
        IReadOnlyDictionary<string, string?> settings, string address)
    {
        var environment = DotnetProgram.Settings
            .ToDictionary(setting => setting.Key, setting => (string?)setting.Value);
        environment[Url] = address;
        foreach (var (name, value) in settings)
        {
            environment[name] = value;
        }
        return environment;
    }

    /// <summary>Waits until the service is ready.</summary>
    /// <exception cref="StackException">It ended, or was not ready in time.</exception>
    public async Task WaitUntilReadyAsync(CancellationToken cancellationToken)
    {
        if (!AcceptsCalls)
        {
            await Process.WaitUntilAnsweredAsync(Address + "/health/ready", cancellationToken);
            return;
        }
        using var channel = GrpcChannel.ForAddress(Address, new GrpcChannelOptions
        {
            HttpHandler = _credentials?.Handler(),
            DisposeHttpClient = true,
            // By default a channel whose connection was refused waits for a second before it
            // reconnects, and then longer.
            InitialReconnectBackoff = ReconnectBackoff,
            MaxReconnectBackoff = ReconnectBackoff,
        });
        await Process.WaitUntilAsync(
            async token =>
            {
                try
                {
                    var health = await new Health.HealthClient(channel).CheckAsync(
                        new HealthCheckRequest(), cancellationToken: token);
                    return health.Status == HealthCheckResponse.Types.ServingStatus.Serving;
                }
                catch (RpcException e) when (e.StatusCode is StatusCode.Unavailable or StatusCode.Internal)
                {
                    return false;
                }
            },
            ChildProcess.Patience, cancellationToken);
    }
}
