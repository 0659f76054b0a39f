namespace Billing.Proxy.Live;

/// <summary>The recent failures. Equal failures are one entry with a count, so that many refusals do not displace the
/// others. Thread-safe.</summary>
internal sealed class FailureLog(TimeProvider time)
{
    /// <summary>The most kinds of failures that are kept.</summary>
    public const int KindsMax = 40;

    /// <summary>How long a kind of failure is kept after it last occurred.</summary>
    public static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(15);

    private const int TextMax = 300;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string, string, string), Failed> _kinds = [];

    /// <summary>Adds a failure, as its caller got it. The detail may contain text that callers sent.</summary>
    public void Add(string method, string status, string? reason, string? detail)
    {
        var kind = (Shorten(method), status, Shorten(reason ?? ""));
        lock (_gate)
        {
            var count = _kinds.TryGetValue(kind, out var before) ? before.Count + 1 : 1;
            _kinds[kind] = new Failed(
                kind.Item1, status, kind.Item3, Shorten(detail ?? ""),
                time.GetUtcNow().ToUnixTimeMilliseconds(), count);
            if (_kinds.Count > KindsMax)
            {
                _kinds.Remove(_kinds.MinBy(entry => entry.Value.At).Key);
            }
        }
    }

    /// <summary>The failures, the latest first.</summary>
    public IReadOnlyList<Failed> Latest()
    {
        var horizon = (time.GetUtcNow() - Lifetime).ToUnixTimeMilliseconds();
        lock (_gate)
        {
            foreach (var (kind, failed) in _kinds)
            {
                if (failed.At < horizon)
                {
                    _kinds.Remove(kind);
                }
            }
            return [.. _kinds.Values.OrderByDescending(failed => failed.At)];
        }
    }

    /// <summary>A text, shortened to what is shown on the page.</summary>
    public static string Shorten(string text) =>
        text.Length <= TextMax ? text : string.Concat(text.AsSpan(0, TextMax), "…");
}
