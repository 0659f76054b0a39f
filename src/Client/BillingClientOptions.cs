using System.Net;
using Grpc.Core.Interceptors;
using Microsoft.Extensions.Logging;

namespace Billing.Client;

/// <summary>The addresses of the proxies and how to call them; section <c>Billing:Client</c>, and
/// <c>Billing:AdminClient</c> for a <see cref="BillingAdminClient"/>.</summary>
public sealed class BillingClientOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Client";

    private static readonly TimeSpan DeadlineMax = TimeSpan.FromDays(1);

    /// <summary>Addresses of the proxies, e.g. <c>http://localhost:5000</c>; calls go to each in turn.
    /// <c>dns:///name:port</c> stands for a proxy at each address of the name, such as that of a headless service of
    /// Kubernetes: it is looked up again every half a minute, and when a proxy is away.</summary>
    public IList<string> Proxies { get; } = [];

    /// <summary>Whether proxies at <c>dns:///</c> addresses are called over plain http.
    /// Otherwise they are called over TLS, with a certificate for the name.</summary>
    public bool DnsPlaintext { get; set; }

    /// <summary>Default deadline of a call, including all its retries: more than zero, at most a day. Streams have no
    /// deadline: the proxy limits the wait for each answer; but they wait no longer than this for a token, for
    /// addresses, and between their retries.</summary>
    public TimeSpan Deadline { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Maximum number of retries of a call, each on another proxy; 0 to 100.</summary>
    public int RetriesMax { get; set; } = 8;

    /// <summary>Delay before the first retry, doubled with each further one up to two seconds, each a fifth more or
    /// less at random; zero to two seconds. Of calls, of streams and of payments on streams. A delay that the proxy
    /// asks for takes precedence, unless the deadline is before its end: then the call is not retried.</summary>
    public TimeSpan RetryDelay { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Retries that each call adds to the retry budget, 0 to 100: 0.2 limits the retries to a fifth of the
    /// calls, so that they do not add to an overload of the platform. Null means no limit.</summary>
    public double? RetryShare { get; set; } = 0.2;

    /// <summary>Maximum of the retry budget, for the failure of a proxy with many calls in flight;
    /// also the budget of a new client. 1 to 1,000,000.</summary>
    public int RetryReserve { get; set; } = 1000;

    /// <summary>Minimum number of calls to a proxy within ten seconds before its circuit breaker may open, which it
    /// does when half of them failed; 2 to 100,000. If all circuits are open, they are ignored.</summary>
    public int CircuitCallsMin { get; set; } = 10;

    /// <summary>How long the circuit breaker of a proxy stays open before one call tries it again;
    /// half a second to a day.</summary>
    public TimeSpan CircuitBreak { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Maximum number of payments of a bulk run in flight, each from its request until
    /// its answer is read.</summary>
    public int StreamWindow { get; set; } = 256;

    /// <summary>The token that identifies the caller, sent as <c>authorization: Bearer</c>; none if null.</summary>
    public string? Token { get; set; }

    /// <summary>Returns the token for each call and each stream, instead of <see cref="Token"/>; for tokens that
    /// expire, which it can cache and renew. An exception from it is thrown by the call, which is not sent; if it
    /// returns no token before the call's deadline (<see cref="Deadline"/> for a stream), the call is not sent either,
    /// and fails: its outcome is unknown.</summary>
    public Func<CancellationToken, ValueTask<string>>? TokenProvider { get; set; }

    /// <summary>Whether the token may be sent to another machine over plain http, where it can be read and
    /// misused in transit.</summary>
    public bool AllowTokenOverHttp { get; set; }

    /// <summary>Certificates, for proxies at https addresses.</summary>
    public TlsOptions Tls { get; } = new();

    /// <summary>Intercept each attempt of each call and each stream, in this order; for headers, logs or metrics of
    /// your own. The host of an attempt is the address of the proxy that it goes to.</summary>
    public IList<Interceptor> Interceptors { get; } = [];

    /// <summary>Returns the handler of the connections to one proxy: the given one, with other settings, such as a
    /// proxy of the network or certificates of your own, or a handler that wraps it. Null for the given one as it is.
    /// Which address a <c>dns:///</c> name is called at cannot be changed.</summary>
    public Func<SocketsHttpHandler, HttpMessageHandler>? HttpHandler { get; set; }

    /// <summary>Makes the log of the client, <c>Billing.Client</c>: failures of attempts, of calls and of look-ups,
    /// and proxies that are skipped. Null for that of the container, if there is one.</summary>
    public ILoggerFactory? LoggerFactory { get; set; }

    /// <summary>What the names of settings begin with in messages; null for the section of the client.</summary>
    internal string? Path { get; set; }

    internal Func<string, CancellationToken, Task<IPAddress[]>> Resolve { get; set; } = Dns.GetHostAddressesAsync;

    /// <summary>Returns one message for each invalid setting, with its name.</summary>
    /// <param name="section">The section that the names begin with.</param>
    public IEnumerable<string> ValidationErrors(string section = Section)
    {
        string?[] problems =
        [
            Proxies.Count > 0
                ? null
                : $"{section}:Proxies is empty; give at least one address, e.g. http://localhost:5000.",
            .. Proxies.Select(proxy => ProblemOf(section, proxy)),
            IsDeadline(Deadline) ? null : $"{section}:Deadline ({Deadline}) must be more than zero and at most a day.",
            OutOfRange(section, nameof(RetriesMax), RetriesMax, 0, 100),
            OutOfRange(section, nameof(RetryShare), RetryShare ?? 0, 0, 100),
            OutOfRange(section, nameof(RetryReserve), RetryReserve, 1, 1_000_000),
            OutOfRange(section, nameof(CircuitCallsMin), CircuitCallsMin, 2, 100_000),
            OutOfRange(section, nameof(StreamWindow), StreamWindow, 1, 100_000),
            OutOfRange(section, nameof(RetryDelay), RetryDelay, TimeSpan.Zero, RetryPolicy.DelayMax),
            OutOfRange(section, nameof(CircuitBreak), CircuitBreak, TimeSpan.FromSeconds(0.5), TimeSpan.FromDays(1)),
            .. Tls.ValidationErrors(section),
            Token is null || TokenProvider is null
                ? null
                : $"{section}:Token and TokenProvider are both set; set only one of them.",
            Token is null || BearerToken.IsValid(Token)
                ? null
                : $"{section}:Token must have only visible ASCII characters, no spaces and no line end, "
                    + "and no prefix 'Bearer'.",
        ];
        return problems.OfType<string>();
    }

    /// <exception cref="ArgumentOutOfRangeException">The deadline of a call is out of range.</exception>
    internal static void CheckDeadline(TimeSpan? deadline)
    {
        if (deadline is { } time && !IsDeadline(time))
        {
            throw new ArgumentOutOfRangeException(
                nameof(deadline), deadline, "A deadline is more than zero and at most a day.");
        }
    }

    private static bool IsDeadline(TimeSpan deadline) => deadline > TimeSpan.Zero && deadline <= DeadlineMax;

    private static string? OutOfRange<T>(string section, string name, T value, T min, T max)
        where T : IComparable<T> => value.CompareTo(min) >= 0 && value.CompareTo(max) <= 0
            ? null
            : FormattableString.Invariant($"{section}:{name} ({value}) must be between {min} and {max}.");

    private string? ProblemOf(string section, string proxy)
    {
        var isName = ProxyName.Is(proxy);
        var address = isName ? ProxyName.Parse(proxy, DnsPlaintext)
            : Uri.TryCreate(proxy, UriKind.Absolute, out var uri) ? uri
            : null;
        if (address?.Scheme is not ("http" or "https"))
        {
            return $"{section}:Proxies: '{proxy}' is not an address of the form http://host:port, https://host:port or "
                + "dns:///name:port.";
        }
        return (Token is not null || TokenProvider is not null) && address.Scheme == "http" && !address.IsLoopback
            && !AllowTokenOverHttp
            ? $"{section}:Proxies: '{proxy}' is plain http, where a token can be read in transit; "
                + $"use {(isName ? "TLS" : "https")}, or set {section}:AllowTokenOverHttp."
            : null;
    }
}

/// <summary>Certificates, as PEM files that are read when the client is created;
/// part <c>Tls</c> of the section.</summary>
public sealed class TlsOptions
{
    /// <summary>The only certificate authorities trusted for the proxies' certificates; null for those that the machine
    /// trusts. The file may be replaced: it is read again for each connection.</summary>
    public string? CaFile { get; set; }

    /// <summary>The client's certificate for mutual TLS, followed by its intermediate certificates;
    /// none if null.</summary>
    public string? CertificateFile { get; set; }

    /// <summary>The unencrypted private key of <see cref="CertificateFile"/>.</summary>
    public string? KeyFile { get; set; }

    internal IEnumerable<string> ValidationErrors(string section)
    {
        foreach (var (name, path) in new[]
        {
            (nameof(CaFile), CaFile), (nameof(CertificateFile), CertificateFile), (nameof(KeyFile), KeyFile),
        })
        {
            if (path is not null && !File.Exists(path))
            {
                yield return $"{section}:Tls:{name}: there is no file '{path}'.";
            }
        }
        if (CertificateFile is null != KeyFile is null)
        {
            yield return $"{section}:Tls:CertificateFile and KeyFile must be set together: one is missing.";
        }
    }
}
