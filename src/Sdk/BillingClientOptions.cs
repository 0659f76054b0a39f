namespace Billing.Client;

/// <summary>Where the proxies are and how to call them; section <c>Billing:Client</c>.</summary>
public sealed class BillingClientOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Client";

    /// <summary>Addresses of the proxies, e.g. <c>http://localhost:5000</c>; calls go to each in turn.</summary>
    public IList<string> Proxies { get; } = [];

    /// <summary>How long a call may take, with all its retries, unless it says otherwise. Streams have no deadline: the proxy
    /// bounds the wait for each answer.</summary>
    public TimeSpan Deadline { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>Tries after the first, each on another proxy; 0 to 100.</summary>
    public int RetriesMax { get; set; } = 8;

    /// <summary>The wait before the first retry; each further one is about twice as long. A proxy's own hint wins.
    /// </summary>
    public TimeSpan RetryDelay { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Retries that each call allows for, 0 to 100: 0.2 keeps them at a fifth of the calls, so that a platform that is
    /// overrun is not given more to do for it. Null does not bound them.</summary>
    public double? RetryShare { get; set; } = 0.2;

    /// <summary>Retries that may be saved up for when a proxy breaks with many calls in hand; a new client has as many, 1 to
    /// 1,000,000.</summary>
    public int RetryReserve { get; set; } = 1000;

    /// <summary>Calls that a proxy must have had within ten seconds, half of them in vain, to be passed over; 2 to 100,000.
    /// Where all are passed over, none is.</summary>
    public int CircuitCallsMin { get; set; } = 10;

    /// <summary>How long a proxy is passed over before one call tries it again; half a second to a day.</summary>
    public TimeSpan CircuitBreak { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Payments that a bulk run holds at the same time, each from its request until its answer is taken.</summary>
    public int StreamWindow { get; set; } = 256;

    /// <summary>The token that says who calls, sent as <c>authorization: Bearer</c>; none if null.</summary>
    public string? Token { get; set; }

    /// <summary>Gives the token instead, for each call and each stream: one that expires is best kept and renewed here. What
    /// it throws is thrown by the call, which has not been sent then.</summary>
    public Func<CancellationToken, ValueTask<string>>? TokenProvider { get; set; }

    /// <summary>Whether the token may go to another machine over plain http, where everyone on the way can read and use it.
    /// </summary>
    public bool AllowTokenOverHttp { get; set; }

    /// <summary>Certificates, for proxies at https addresses.</summary>
    public TlsOptions Tls { get; } = new();

    /// <summary>What is wrong with the settings, naming each.</summary>
    public IEnumerable<string> Problems()
    {
        if (Proxies.Count == 0)
        {
            yield return "Billing:Client:Proxies is empty; give at least one address, e.g. http://localhost:5000.";
        }
        foreach (var problem in Proxies.Select(ProblemOf).OfType<string>().Concat(ProblemsOfNumbers()).Concat(Tls.Problems()))
        {
            yield return problem;
        }
        if (Token is not null && TokenProvider is not null)
        {
            yield return "Billing:Client:Token and TokenProvider are both given; one of them says who calls.";
        }
        if (Token is not null && (Token.Length == 0 || Token.AsSpan().ContainsAnyExceptInRange('!', '~')))
        {
            yield return "Billing:Client:Token must be of visible ASCII characters without spaces, without 'Bearer' before it.";
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
            ? $"Billing:Client:Proxies: '{proxy}' is plain http, where a token can be read on the way; use https, or set Billing:Client:AllowTokenOverHttp."
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
