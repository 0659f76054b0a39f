using Billing.Journals;

namespace Billing.Auditing;

/// <summary>Compares the order of each account's versions with real time: a payment that was sent after an answer had
/// shown a version must get a later one. Not thread-safe.</summary>
/// <param name="tolerance">The most by which the clients' clocks differ.</param>
internal sealed class RealTimeOrder(TimeSpan tolerance)
{
    private readonly long _toleranceUs = (long)tolerance.TotalMicroseconds;
    private readonly Dictionary<string, List<Call>> _calls = new(StringComparer.Ordinal);

    /// <summary>Payments with an earlier version than one that was known when they were sent.</summary>
    public Findings Reordered { get; } = new();

    /// <summary>Adds a call.</summary>
    /// <param name="streamId">The account's stream.</param>
    /// <param name="version">The version of the payment, or of the balance that was read.</param>
    /// <param name="span">When the call began and ended.</param>
    /// <param name="isPayment">Whether it was a payment, whose version cannot have been known before.</param>
    /// <param name="isAnswered">Whether its answer showed the version.</param>
    public void Add(string streamId, long version, CallSpan span, bool isPayment = true, bool isAnswered = true)
    {
        if (!_calls.TryGetValue(streamId, out var calls))
        {
            _calls.Add(streamId, calls = []);
        }
        calls.Add(new Call(
            version, isPayment ? span.BeganUnixUs : long.MaxValue, isAnswered ? span.EndedUnixUs : long.MaxValue));
    }

    /// <summary>Finds the reordered payments. Call this after all calls are added.</summary>
    public void Conclude()
    {
        foreach (var (streamId, calls) in _calls)
        {
            calls.Sort(static (one, other) => other.Version.CompareTo(one.Version));
            Check(streamId, calls);
        }
    }

    // From the latest version to the first: the earliest answer that showed this version or a later one must not have
    // arrived before the payment was sent. A payment that was sent several times counts from the first time.
    private void Check(string streamId, List<Call> calls)
    {
        var shown = new Call(0, 0, long.MaxValue);
        for (var i = 0; i < calls.Count;)
        {
            var version = calls[i].Version;
            var began = long.MaxValue;
            for (; i < calls.Count && calls[i].Version == version; i++)
            {
                began = Math.Min(began, calls[i].BeganUnixUs);
                shown = calls[i].EndedUnixUs < shown.EndedUnixUs ? calls[i] : shown;
            }
            if (began != long.MaxValue && began - _toleranceUs > shown.EndedUnixUs)
            {
                Reordered.Add(
                    $"{streamId}: the payment of version {version} was sent {began - shown.EndedUnixUs} us after an "
                    + $"answer had shown version {shown.Version}");
            }
        }
    }

    /// <summary>The times of a call: the maximum where a balance check sent no payment, or a
    /// payment had no answer.</summary>
    private readonly record struct Call(long Version, long BeganUnixUs, long EndedUnixUs);
}
