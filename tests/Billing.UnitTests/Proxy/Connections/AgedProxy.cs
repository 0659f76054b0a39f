using Billing.LocalStack.Processes;
using Billing.Messaging.Requests;
using Billing.Operator.Credentials;
using Billing.UnitTests.Proxy.Security;

namespace Billing.UnitTests.Proxy.Connections;

/// <summary>What a proxy listens for.</summary>
public enum Front
{
    /// <summary>Callers, over gRPC.</summary>
    Grpc,

    /// <summary>Callers, over REST.</summary>
    Rest,

    /// <summary>Operators, over REST.</summary>
    Admin,

    /// <summary>Operators, over gRPC.</summary>
    AdminGrpc,
}

/// <summary>A proxy with each of its addresses, all with TLS or all without, on a manual clock.</summary>
internal sealed class AgedProxy : IAsyncDisposable
{
    private static readonly TimeSpan IdleMax = TimeSpan.FromSeconds(25);
    private static readonly TimeSpan DeadlineMax = TimeSpan.FromMinutes(5);

    /// <summary>The greatest age of its connections, a tenth more or less. The clock leaps by it, which is less than a
    /// request may take to come whole.</summary>
    public static readonly TimeSpan AgeMax = IdleMax;

    /// <summary>After so long every connection is old, and none has to have ended.</summary>
    public static readonly TimeSpan Old = AgeMax * 1.1;

    /// <summary>So long after it is old, no call may be left on it.</summary>
    public static readonly TimeSpan Ending = IdleMax + DeadlineMax;

    /// <summary>So long after a caller was told, its streams end.</summary>
    public static readonly TimeSpan Told = TimeSpan.FromSeconds(2);

    private SecureProxy? _secure;
    private Uri[] _addresses = [];

    public ManualTime Time { get; } = new();

    public FakeBackend Backend { get; private set; } = new();

    /// <summary>After how long each connection is old.</summary>
    public IEnumerable<TimeSpan> Ages => Time.Delays.Where(delay => delay >= AgeMax * 0.9 && delay <= Old);

    public ProxyHost Host { get; private set; } = null!;

    /// <summary>The file of the authority that its certificate is from; null without TLS.</summary>
    public string? CaFile => _secure?.CaFile;

    public static async Task<AgedProxy> StartAsync(bool tls)
    {
        var proxy = new AgedProxy();
        using var ports = new FreePorts();
        proxy._addresses = [.. Enum.GetValues<Front>().Select(
            _ => new Uri($"{(tls ? "https" : "http")}://localhost:{ports.Take()}"))];
        var settings = new Dictionary<string, string?>
        {
            ["urls"] = proxy.Text(Front.Grpc),
            ["Billing:Rest:Url"] = proxy.Text(Front.Rest),
            ["Billing:Admin:Url"] = proxy.Text(Front.Admin),
            ["Billing:Admin:GrpcUrl"] = proxy.Text(Front.AdminGrpc),
            ["Billing:Limits:ConnectionAgeMax"] = AgeMax.ToString(),
            ["Billing:Limits:ConnectionIdleMax"] = IdleMax.ToString(),
            ["Billing:Proxy:DeadlineMax"] = DeadlineMax.ToString(),
            ["Billing:Proxy:StreamIdleMax"] = "12:00:00",
        };
        if (tls)
        {
            proxy._secure = await SecureProxy.StartAsync(settings, proxy.Time);
            (proxy.Host, proxy.Backend) = (proxy._secure.Host, proxy._secure.Backend);
        }
        else
        {
            proxy.Host = await ProxyHost.StartAsync(proxy.Backend, time: proxy.Time, settings: settings);
        }
        return proxy;
    }

    /// <summary>The address of a front.</summary>
    public Uri At(Front front) => _addresses[(int)front];

    /// <summary>A handler for connections to it.</summary>
    public SocketsHttpHandler Handler() => _secure?.Handler() ?? new SocketsHttpHandler();

    /// <summary>A token of a caller that may do everything; null where none is needed.</summary>
    public string? Token(TimeSpan validity)
    {
        if (_secure is null)
        {
            return null;
        }
        using var tokens = TokenIssuer.Of(_secure.Tokens.Pem, Time);
        return tokens.Issue("somebody", [.. Scopes.All], ["*/*"], validity);
    }

    public ValueTask DisposeAsync() => _secure?.DisposeAsync() ?? Host.DisposeAsync();

    private string Text(Front front) => At(front).ToString().TrimEnd('/');
}
