namespace Billing.Client;

/// <summary>The addresses of the proxies and how to call them; section <c>Billing:Client</c>.</summary>
public sealed class BillingClientOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Client";

    /// <summary>Addresses of the proxies, e.g. <c>http://localhost:5000</c>; calls go to each in turn.</summary>
    public IList<string> Proxies { get; } = [];

    /// <summary>Default deadline of a call, including all its retries. Streams have no deadline: the proxy limits the wait for
    /// each answer.</summary>
    public TimeSpan Deadline { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Maximum number of retries of a call, each on another proxy; 0 to 100.</summary>
    public int RetriesMax { get; set; } = 8;

    /// <summary>Delay before the first retry; about doubled with each further retry. A delay that the proxy asks for takes
    /// precedence.</summary>
    public TimeSpan RetryDelay { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Retries that each call adds to the retry budget, 0 to 100: 0.2 limits the retries to a fifth of the calls, so
    /// that they do not add to an overload of the platform. Null means no limit.</summary>
    public double? RetryShare { get; set; } = 0.2;

    /// <summary>Maximum of the retry budget, for the failure of a proxy with many calls in flight; also the budget of a new
    /// client. 1 to 1,000,000.</summary>
    public int RetryReserve { get; set; } = 1000;

    /// <summary>Minimum number of calls to a proxy within ten seconds before its circuit breaker may open, which it does when
    /// half of them failed; 2 to 100,000. If all circuits are open, they are ignored.</summary>
    public int CircuitCallsMin { get; set; } = 10;

    /// <summary>How long the circuit breaker of a proxy stays open before one call tries it again; half a second to a day.
    /// </summary>
    public TimeSpan CircuitBreak { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Maximum number of payments of a bulk run in flight, each from its request until its answer is read.</summary>
    public int StreamWindow { get; set; } = 256;

    /// <summary>The token that identifies the caller, sent as <c>authorization: Bearer</c>; none if null.</summary>
    public string? Token { get; set; }

    /// <summary>Returns the token for each call and each stream, instead of <see cref="Token"/>; for tokens that expire, which it
    /// can cache and renew. An exception from it is thrown by the call, which is not sent.</summary>
    public Func<CancellationToken, ValueTask<string>>? TokenProvider { get; set; }

    /// <summary>Whether the token may be sent to another machine over plain http, where it can be read and misused in transit.
    /// </summary>
    public bool AllowTokenOverHttp { get; set; }

    /// <summary>Certificates, for proxies at https addresses.</summary>
    public TlsOptions Tls { get; } = new();

    /// <summary>Returns one message for each invalid setting, with its name.</summary>
    public IEnumerable<string> ValidationErrors()
    {
        if (Proxies.Count == 0)
        {
            yield return "Billing:Client:Proxies is empty; give at least one address, e.g. http://localhost:5000.";
        }
        foreach (var problem in Proxies.Select(ProblemOf).OfType<string>().Concat(ProblemsOfNumbers()).Concat(Tls.ValidationErrors()))
        {
            yield return problem;
        }
        if (Token is not null && TokenProvider is not null)
        {
            yield return "Billing:Client:Token and TokenProvider are both set; set only one of them.";
        }
        if (Token is not null && (Token.Length == 0 || Token.AsSpan().ContainsAnyExceptInRange('!', '~')))
        {
            yield return "Billing:Client:Token must consist of visible ASCII characters without spaces and without the prefix 'Bearer'.";
        }
    }

    private static bool IsAddress(string proxy, out Uri? address) =>
        Uri.TryCreate(proxy, UriKind.Absolute, out address) && address.Scheme is "http" or "https";

    private static string? OutOfRange(string name, double value, double min, double max) => value >= min && value <= max
        ? null
        : FormattableString.Invariant($"Billing:Client:{name} ({value}) must be between {min} and {max}.");

    private string? ProblemOf(string proxy)
    {
        if (!IsAddress(proxy, out var address))
        {
            return $"Billing:Client:Proxies: '{proxy}' is not an address of the form http://host:port.";
        }
        return (Token is not null || TokenProvider is not null) && address!.Scheme == "http" && !address.IsLoopback && !AllowTokenOverHttp
            ? $"Billing:Client:Proxies: '{proxy}' is plain http, where a token can be read in transit; use https, or set Billing:Client:AllowTokenOverHttp."
            : null;
    }

    private IEnumerable<string> ProblemsOfNumbers()
    {
        if (Deadline <= TimeSpan.Zero)
        {
            yield return $"Billing:Client:Deadline ({Deadline}) must be above zero.";
        }
        string?[] ranges =
        [
            OutOfRange(nameof(RetriesMax), RetriesMax, 0, 100),
            OutOfRange(nameof(RetryShare), RetryShare ?? 0, 0, 100),
            OutOfRange(nameof(RetryReserve), RetryReserve, 1, 1_000_000),
            OutOfRange(nameof(CircuitCallsMin), CircuitCallsMin, 2, 100_000),
            OutOfRange(nameof(StreamWindow), StreamWindow, 1, 100_000),
        ];
        foreach (var problem in ranges.OfType<string>())
        {
            yield return problem;
        }
        if (RetryDelay < TimeSpan.Zero || RetryDelay > TimeSpan.FromMinutes(1))
        {
            yield return $"Billing:Client:RetryDelay ({RetryDelay}) must be between zero and a minute.";
        }
        if (CircuitBreak < TimeSpan.FromSeconds(0.5) || CircuitBreak > TimeSpan.FromDays(1))
        {
            yield return $"Billing:Client:CircuitBreak ({CircuitBreak}) must be between half a second and a day.";
        }
    }
}
