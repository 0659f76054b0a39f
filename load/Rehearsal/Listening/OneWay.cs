using System.Buffers;
using System.Text;

namespace Billing.Rehearsal.Listening;

/// <summary>One direction of a TCP connection as its receiver reads it: in order, each byte once.</summary>
/// <param name="next">The sequence number of its next byte.</param>
/// <param name="isWhole">Whether that is its first byte.</param>
/// <param name="traffic">Where what it carries is counted.</param>
internal sealed class OneWay(uint next, bool isWhole, Traffic traffic)
{
    // Whoever waits for a packet has it after that many others at the latest, or it was not seen.
    private const int HeldBytesMax = 1 << 20;

    // No window is as large: it is another connection with the same ports, whose beginning was not seen.
    private const int AheadMax = 1 << 28;

    private readonly List<(uint Sequence, byte[] Bytes)> _held = [];
    private TlsFraming _framing = new(isWhole, traffic);
    private uint _next = next;
    private int _heldBytes;

    // The last bytes that were searched: a needle may continue in the next packet.
    private char[] _tail = [];

    /// <summary>Whether it begins with this sequence number and has carried nothing yet.</summary>
    public bool IsNewAt(uint sequence) => isWhole && _next == sequence;

    /// <summary>Takes a packet's payload.</summary>
    public void Take(uint sequence, ReadOnlySpan<byte> payload, Needles needles)
    {
        var ahead = (int)(sequence - _next);
        if (ahead is > AheadMax or < -AheadMax)
        {
            End(needles);
            (_framing, _next, _tail) = (new TlsFraming(isWhole: false, traffic), sequence, []);
            ahead = 0;
        }
        if (ahead > 0)
        {
            _held.Add((sequence, payload.ToArray()));
            _heldBytes += payload.Length;
            while (_heldBytes > HeldBytesMax)
            {
                PassOver(needles);
            }
        }
        else if (-ahead < payload.Length)
        {
            Read(payload[-ahead..], needles);
            ReadHeld(needles);
        }
    }

    /// <summary>No more packets follow.</summary>
    public void End(Needles needles)
    {
        while (_held.Count > 0)
        {
            PassOver(needles);
        }
        _framing.End();
    }

    // Gives up what is missing before the first packet that is held.
    private void PassOver(Needles needles)
    {
        var ahead = _held.Min(held => (int)(held.Sequence - _next));
        _framing.Miss(ahead);
        _next += (uint)ahead;
        _tail = [];
        ReadHeld(needles);
    }

    private void ReadHeld(Needles needles)
    {
        while (_held.FindIndex(held => (int)(held.Sequence - _next) <= 0) is var index and >= 0)
        {
            var (sequence, bytes) = _held[index];
            _held.RemoveAt(index);
            _heldBytes -= bytes.Length;
            if ((int)(_next - sequence) is var known && known < bytes.Length)
            {
                Read(bytes.AsSpan(known), needles);
            }
        }
    }

    private void Read(ReadOnlySpan<byte> bytes, Needles needles)
    {
        _next += (uint)bytes.Length;
        _framing.Read(bytes);
        _tail = Search(_tail, bytes, needles, traffic.Found);
    }

    /// <summary>Looks for needles in bytes that follow others.</summary>
    /// <returns>The last bytes, with which the next ones are searched.</returns>
    public static char[] Search(
        ReadOnlySpan<char> tail, ReadOnlySpan<byte> bytes, Needles needles, Dictionary<string, long> found)
    {
        var length = tail.Length + bytes.Length;
        var pooled = ArrayPool<char>.Shared.Rent(length);
        var text = pooled.AsSpan(0, length);
        tail.CopyTo(text);
        Encoding.Latin1.GetChars(bytes, text[tail.Length..]);
        needles.Count(text, tail.Length, found);
        char[] last = [.. text[^Math.Min(length, needles.LengthMax - 1)..]];
        ArrayPool<char>.Shared.Return(pooled);
        return last;
    }
}
