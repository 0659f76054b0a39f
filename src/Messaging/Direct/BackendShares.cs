using System.Text;

namespace Billing.Messaging.Direct;

/// <summary>Which backend serves an account: the one whose address has the highest score together with the account's stream
/// id. The scores are the same in every process and on every machine, whatever the order of the addresses; a backend that is
/// added takes its share evenly from the others, and only the share of one that is removed moves.</summary>
public sealed class BackendShares
{
    private const ulong FnvOffset = 14695981039346656037;
    private const ulong FnvPrime = 1099511628211;

    // 2^64 divided by the golden ratio: odd, and its bits are well spread.
    private const ulong Spread = 0x9E3779B97F4A7C15;

    private readonly ulong[] _addresses;

    /// <summary>Shares the accounts out over backends.</summary>
    /// <param name="addresses">At least one, as every proxy names them, but for the case of letters.</param>
    public BackendShares(IEnumerable<string> addresses)
    {
        _addresses = [.. addresses.Select(a => Hash(a.ToLowerInvariant()))];
        ArgumentOutOfRangeException.ThrowIfZero(_addresses.Length, nameof(addresses));
    }

    /// <summary>The index of the address that serves a stream.</summary>
    public int IndexOf(string streamId)
    {
        var stream = Hash(streamId);
        var (best, bestScore) = (0, 0UL);
        for (var i = 0; i < _addresses.Length; i++)
        {
            var score = Mix(stream ^ Mix(_addresses[i]));
            if (score > bestScore)
            {
                (best, bestScore) = (i, score);
            }
        }
        return best;
    }

    /// <summary>FNV-1a of the text's UTF-8 bytes, 64 bits.</summary>
    internal static ulong Hash(string text)
    {
        Span<byte> buffer = stackalloc byte[256];
        var bytes = Encoding.UTF8.GetMaxByteCount(text.Length) <= buffer.Length
            ? buffer[..Encoding.UTF8.GetBytes(text, buffer)]
            : Encoding.UTF8.GetBytes(text);
        var hash = FnvOffset;
        foreach (var b in bytes)
        {
            hash = unchecked((hash ^ b) * FnvPrime);
        }
        return hash;
    }

    /// <summary>Lets every bit of a hash weigh on every bit of the score: accounts that are numbered through differ in their
    /// last bits only.</summary>
    internal static ulong Mix(ulong hash)
    {
        unchecked
        {
            hash = (hash ^ (hash >> 32)) * Spread;
            hash = (hash ^ (hash >> 29)) * Spread;
            return hash ^ (hash >> 32);
        }
    }
}
