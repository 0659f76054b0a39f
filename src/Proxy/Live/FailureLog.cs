namespace Billing.Proxy.Live;

/// <summary>The recent failures. Equal failures are one entry with a count, so that many refusals do not displace the others.
/// Thread-safe.</summary>
internal sealed class FailureLog(TimeProvider time)
{
    /// <summary>The most kinds of failures that are kept.</summary>
    public const int KindsMax = 40;

    /// <summary>How long a kind of failure is kept after it last occurred.</summary>
    public static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(15);

    private const int TextMax = 300;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string, string, string), Failed> _sorts = [];

    /// <summary>Adds a failure.</summary>
    /// <param name="method">The method called.</param>
    /// <param name="status">The status that the caller got.</param>
    /// <param name="reason">The reason that the caller got; may be null.</param>
    /// <param name="detail">What happened; may contain text that callers sent.</param>
    public void Add(string method, string status, string? reason, string? detail)
    {
        var sort = (Shorten(method), status, Shorten(reason ?? ""));
        lock (_gate)
        {
            var count = _sorts.TryGetValue(sort, out var before) ? before.Count + 1 : 1;
            _sorts[sort] = new Failed(sort.Item1, status, sort.Item3, Shorten(detail ?? ""), time.GetUtcNow().ToUnixTimeMilliseconds(), count);
            if (_sorts.Count > KindsMax)
            {
                _sorts.Remove(_sorts.MinBy(entry => entry.Value.At).Key);
            }
        }
    }

    /// <summary>The failures, the latest first.</summary>
    public IReadOnlyList<Failed> Latest()
    {
        var horizon = (time.GetUtcNow() - Lifetime).ToUnixTimeMilliseconds();
        lock (_gate)
        {
            foreach (var (sort, failed) in _sorts)
            {
                if (failed.At < horizon)
                {
                    _sorts.Remove(sort);
                }
            }
            return [.. _sorts.Values.OrderByDescending(failed => failed.At)];
        }
    }

    private static string Shorten(string text) => text.Length <= TextMax ? text : string.Concat(text.AsSpan(0, TextMax), "…");
}

/// <summary>A kind of failure.</summary>
/// <param name="Method">The method called.</param>
/// <param name="Status">The status that callers got.</param>
/// <param name="Reason">The reason that callers got; may be empty.</param>
/// <param name="Detail">What happened the last time.</param>
/// <param name="At">When it last happened, in milliseconds since the Unix epoch.</param>
/// <param name="Count">How often it happened.</param>
internal sealed record Failed(string Method, string Status, string Reason, string Detail, long At, long Count);
