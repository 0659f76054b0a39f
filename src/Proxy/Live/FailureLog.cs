namespace Billing.Proxy.Live;

/// <summary>What failed lately, equal failures as one, so that a storm of refusals does not wash the others away. Safe from any
/// thread.</summary>
internal sealed class FailureLog(TimeProvider time)
{
    /// <summary>How many sorts of failures are kept.</summary>
    public const int SortsMax = 40;

    /// <summary>How long a sort is kept that does not occur again.</summary>
    public static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(15);

    private const int TextMax = 300;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string, string, string), Failed> _sorts = [];

    /// <summary>Enters a failure.</summary>
    /// <param name="method">What was called.</param>
    /// <param name="status">The status that the caller got.</param>
    /// <param name="reason">The reason that it got, or nothing.</param>
    /// <param name="detail">What happened; may hold what callers sent.</param>
    public void Add(string method, string status, string? reason, string? detail)
    {
        var sort = (Shorten(method), status, Shorten(reason ?? ""));
        lock (_gate)
        {
            var count = _sorts.TryGetValue(sort, out var before) ? before.Count + 1 : 1;
            _sorts[sort] = new Failed(sort.Item1, status, sort.Item3, Shorten(detail ?? ""), time.GetUtcNow().ToUnixTimeMilliseconds(), count);
            if (_sorts.Count > SortsMax)
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

/// <summary>A sort of failure.</summary>
/// <param name="Method">What was called.</param>
/// <param name="Status">The status that callers got.</param>
/// <param name="Reason">The reason that they got.</param>
/// <param name="Detail">What happened the last time.</param>
/// <param name="At">When that was, in milliseconds since the Unix epoch.</param>
/// <param name="Count">How often it happened.</param>
internal sealed record Failed(string Method, string Status, string Reason, string Detail, long At, long Count);
