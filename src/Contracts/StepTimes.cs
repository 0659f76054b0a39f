using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;

namespace Billing.Contracts;

/// <summary>When the steps of one payment were taken, in the order of the steps, each by the clock of the process that
/// took it; null for a step that was not taken or is not known. Differences between machines are only as exact as
/// their clocks agree.</summary>
/// <param name="Sent">The client sent the call that was answered.</param>
/// <param name="Received">A proxy received it.</param>
/// <param name="Appended">The broker appended the command, in whole milliseconds: it may appear up to one millisecond
/// earlier than <see cref="Received"/>. Null on transports without a broker.</param>
/// <param name="Consumed">A backend received the command.</param>
/// <param name="Decided">The payment was decided. Null, as is <see cref="Stored"/>, if the answer is that of an earlier
/// call with the same transaction id.</param>
/// <param name="Stored">The transaction with its event was committed.</param>
/// <param name="Replied">The backend handed its reply to the transport.</param>
/// <param name="Answered">The proxy received the reply and answered.</param>
/// <param name="Returned">The client received the answer; known only to the client.</param>
public sealed record StepTimes(
    DateTimeOffset? Sent = null, DateTimeOffset? Received = null, DateTimeOffset? Appended = null,
    DateTimeOffset? Consumed = null, DateTimeOffset? Decided = null, DateTimeOffset? Stored = null,
    DateTimeOffset? Replied = null, DateTimeOffset? Answered = null, DateTimeOffset? Returned = null)
{
    /// <summary>The names of the steps, in their order, as used in texts and files.</summary>
    public static IReadOnlyList<string> Names { get; } =
        ["sent", "received", "appended", "consumed", "decided", "stored", "replied", "answered", "returned"];

    /// <summary>The steps with their names, in their order.</summary>
    public IEnumerable<KeyValuePair<string, DateTimeOffset?>> Steps() => Names.Zip(
        (DateTimeOffset?[])[Sent, Received, Appended, Consumed, Decided, Stored, Replied, Answered, Returned],
        KeyValuePair.Create);

    /// <summary>Reads times from named values, in microseconds since the Unix epoch. A step whose value is absent,
    /// 0 or not a valid time counts as not taken.</summary>
    public static StepTimes Of(IReadOnlyDictionary<string, long> unixUs)
    {
        ArgumentNullException.ThrowIfNull(unixUs);
        var at = Names.Select(name => FromUnixUs(unixUs.GetValueOrDefault(name))).ToArray();
        return new StepTimes(at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8]);
    }

    /// <summary>Reads the value of the trailer <see cref="Trailers.Times"/>. Steps that this version does not
    /// know are ignored.</summary>
    /// <returns>False if the text is not such a value.</returns>
    public static bool TryParse(string? text, [NotNullWhen(true)] out StepTimes? times)
    {
        times = null;
        var unixUs = new Dictionary<string, long>(StringComparer.Ordinal);
        foreach (var step in (text ?? "").Split(';'))
        {
            var at = step.IndexOf('=', StringComparison.Ordinal);
            if (at < 1 || !TryParseUnixUs(step.AsSpan(at + 1), out var us))
            {
                return false;
            }
            unixUs[step[..at]] = us;
        }
        times = Of(unixUs);
        return true;
    }

    /// <summary>Reads a time in the form of <see cref="RequestHeaders.SentAt"/>: digits only.</summary>
    public static bool TryParseUnixUs(ReadOnlySpan<char> text, out long unixUs) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out unixUs) && UnixTime.IsDate(unixUs);

    /// <summary>The value of the trailer: for each step that was taken, in order, its name, <c>=</c>, and whole
    /// microseconds since the Unix epoch, separated by <c>;</c>:
    /// <c>sent=1769860800000000;received=1769860800000420;...</c></summary>
    public override string ToString()
    {
        var text = new StringBuilder();
        foreach (var (name, at) in Steps())
        {
            if (at is { } time)
            {
                text.Append(text.Length == 0 ? "" : ";")
                    .Append(CultureInfo.InvariantCulture, $"{name}={UnixTime.Microseconds(time)}");
            }
        }
        return text.ToString();
    }

    private static DateTimeOffset? FromUnixUs(long us) => UnixTime.IsDate(us)
        ? UnixTime.FromMicroseconds(us)
        : null;
}
