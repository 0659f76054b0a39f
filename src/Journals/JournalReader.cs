using System.Buffers.Text;
using System.Globalization;
using System.Text;
using Billing.V1;

namespace Billing.Journals;

/// <summary>Reads a journal entry by entry, without allocating a string for each line: journals have millions of them.
/// Not thread-safe.</summary>
public sealed class JournalReader : IDisposable
{
    private const int BufferBytes = 64 * 1024;
    private const int FieldCount = 11;

    private readonly string _path;
    private readonly FileStream _file;
    private readonly byte[] _buffer = new byte[BufferBytes];
    private readonly TextPool _texts = new();
    private long _unread;
    private int _start;
    private int _end;
    private long _line;

    /// <summary>Opens a journal.</summary>
    /// <param name="path">The file.</param>
    /// <param name="length">The most bytes to read, for a journal that may still grow;
    /// by default the whole file.</param>
    public JournalReader(string path, long length = long.MaxValue)
    {
        _path = path;
        _unread = length;
        _file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite, bufferSize: 0);
    }

    /// <summary>Reads a whole journal; see <see cref="TryRead"/>.</summary>
    public static IEnumerable<JournalEntry> Read(string path)
    {
        using var reader = new JournalReader(path);
        while (reader.TryRead(out var entry))
        {
            yield return entry;
        }
    }

    /// <summary>Number of bytes in the lines read so far.</summary>
    public long Position { get; private set; }

    /// <summary>Reads the next entry. A last line without a line break is ignored: a client that was killed may have
    /// written part of an entry, and that part may look complete.</summary>
    /// <returns>Whether there was one.</returns>
    /// <exception cref="FormatException">It is not a line of a journal; the message names file and line.</exception>
    public bool TryRead(out JournalEntry entry)
    {
        if (!TryReadLine(out var line))
        {
            entry = default;
            return false;
        }
        return TryParse(line, _texts, out entry) ? true : throw NoEntry(line);
    }

    /// <inheritdoc/>
    public void Dispose() => _file.Dispose();

    internal static bool TryParse(ReadOnlySpan<byte> line, TextPool texts, out JournalEntry entry)
    {
        entry = default;
        Span<Range> fields = stackalloc Range[FieldCount + 1];
        if (Split(line, fields) != FieldCount
            || !Utf8Parser.TryParse(line[fields[0]], out Guid transactionId, out var read)
            || read != line[fields[0]].Length
            || !TryReadDecimal(line[fields[3]], out var amount)
            || !TryReadOutcome(line[fields[4]], out var outcome)
            || !TryReadNumber(line[fields[5]], out var version)
            || !TryReadBalance(line[fields[6]], out var balance)
            || !TryReadReason(line[fields[7]], out var reason)
            || !TryReadNumber(line[fields[8]], out var began)
            || !TryReadNumber(line[fields[9]], out var ended)
            || !TryReadNumber(line[fields[10]], out var minVersion))
        {
            return false;
        }
        entry = new JournalEntry(
            transactionId, texts.Get(line[fields[1]]), texts.Get(line[fields[2]]), amount, outcome, version, balance,
            reason, new CallSpan(began, ended), minVersion);
        return true;
    }

    private static int Split(ReadOnlySpan<byte> line, Span<Range> fields)
    {
        var count = 0;
        var start = 0;
        while (count < fields.Length)
        {
            var length = line[start..].IndexOf((byte)',');
            fields[count++] = length < 0 ? start..line.Length : start..(start + length);
            if (length < 0)
            {
                break;
            }
            start += length + 1;
        }
        return count;
    }

    private static bool TryReadNumber(ReadOnlySpan<byte> field, out long value) =>
        long.TryParse(field, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out value);

    private static bool TryReadDecimal(ReadOnlySpan<byte> field, out decimal value) => decimal.TryParse(
        field, NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out value);

    private static bool TryReadOutcome(ReadOnlySpan<byte> field, out PaymentFate outcome)
    {
        (var known, outcome) = field switch
        {
            _ when field.SequenceEqual("Accepted"u8) => (true, PaymentFate.Accepted),
            _ when field.SequenceEqual("Declined"u8) => (true, PaymentFate.Declined),
            _ when field.SequenceEqual("Failed"u8) => (true, PaymentFate.Failed),
            _ => (field.SequenceEqual("Unknown"u8), PaymentFate.Unknown),
        };
        return known;
    }

    // Empty for none.
    private static bool TryReadBalance(ReadOnlySpan<byte> field, out decimal? balance)
    {
        var isThere = TryReadDecimal(field, out var told);
        balance = isThere ? told : null;
        return isThere || field.IsEmpty;
    }

    // Empty for none.
    private static bool TryReadReason(ReadOnlySpan<byte> field, out DeclineReason reason)
    {
        reason = field switch
        {
            _ when field.SequenceEqual("CreditLimitExceeded"u8) => DeclineReason.CreditLimitExceeded,
            _ when field.SequenceEqual("CurrencyMismatch"u8) => DeclineReason.CurrencyMismatch,
            _ when field.SequenceEqual("AccountFrozen"u8) => DeclineReason.AccountFrozen,
            _ when field.SequenceEqual("AccountClosed"u8) => DeclineReason.AccountClosed,
            _ => DeclineReason.Unspecified,
        };
        return reason != DeclineReason.Unspecified || field.IsEmpty;
    }

    private bool TryReadLine(out ReadOnlySpan<byte> line)
    {
        while (true)
        {
            var length = _buffer.AsSpan(_start, _end - _start).IndexOf((byte)'\n');
            if (length >= 0)
            {
                line = _buffer.AsSpan(_start, length);
                line = line.EndsWith("\r"u8) ? line[..^1] : line;
                _start += length + 1;
                Position += length + 1;
                _line++;
                return true;
            }
            if (_end - _start == _buffer.Length)
            {
                _line++;
                throw NoEntry(_buffer);
            }
            if (!Fill())
            {
                line = default;
                return false;
            }
        }
    }

    private bool Fill()
    {
        _buffer.AsSpan(_start, _end - _start).CopyTo(_buffer);
        (_start, _end) = (0, _end - _start);
        var read = _file.Read(_buffer, _end, (int)Math.Min(_buffer.Length - _end, _unread));
        _end += read;
        _unread -= read;
        return read > 0;
    }

    private FormatException NoEntry(ReadOnlySpan<byte> line)
    {
        const int ShownMax = 120;
        var shown = Encoding.UTF8.GetString(line[..Math.Min(line.Length, ShownMax)])
            + (line.Length > ShownMax ? "..." : "");
        return new FormatException(string.Create(CultureInfo.InvariantCulture,
            $"{_path}, line {_line}: '{shown}' is not a line of a journal."));
    }
}

/// <summary>Shares one string for each text that occurs repeatedly.</summary>
internal sealed class TextPool
{
    private const int PooledMax = 128;

    private readonly Dictionary<string, string>.AlternateLookup<ReadOnlySpan<char>> _texts =
        new Dictionary<string, string>(StringComparer.Ordinal).GetAlternateLookup<ReadOnlySpan<char>>();

    public string Get(ReadOnlySpan<byte> utf8)
    {
        if (utf8.Length > PooledMax)
        {
            return Encoding.UTF8.GetString(utf8);
        }
        Span<char> buffer = stackalloc char[PooledMax];
        ReadOnlySpan<char> characters = buffer[..Encoding.UTF8.GetChars(utf8, buffer)];
        if (!_texts.TryGetValue(characters, out var text))
        {
            text = characters.ToString();
            _texts[characters] = text;
        }
        return text;
    }
}
