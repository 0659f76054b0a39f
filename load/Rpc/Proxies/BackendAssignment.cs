using System.Text;

namespace Billing.Rpc.Proxies;

/// <summary>Assigns accounts to backends by rendezvous hashing: an account is served by the backend whose address has
/// the highest score together with the account's stream id. The scores are the same in every process and on every
/// machine, independent of the order of the addresses. A backend that is added receives accounts evenly from all
/// others; when one is removed, only its accounts move.</summary>
public sealed class BackendAssignment
{
    private const ulong FnvOffset = 14695981039346656037;
    private const ulong FnvPrime = 1099511628211;

    // 2^64 divided by the golden ratio: an odd number with well distributed bits.
    private const ulong Multiplier = 0x9E3779B97F4A7C15;

    private readonly ulong[] _addresses;

    /// <summary>Creates the assignment for some backends.</summary>
    /// <param name="addresses">At least one address, the same at every proxy except for upper and lower case.</param>
    public BackendAssignment(IEnumerable<string> addresses)
    {
        _addresses = [.. addresses.Select(a => Hash(a.ToLowerInvariant()))];
        ArgumentOutOfRangeException.ThrowIfZero(_addresses.Length, nameof(addresses));
    }

    /// <summary>Returns the index of the backend that serves a stream.</summary>
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

    /// <summary>Returns the 64-bit FNV-1a hash of the text's UTF-8 bytes.</summary>
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

    /// <summary>Mixes a hash so that each of its bits influences every bit of the score: the hashes of consecutively
    /// numbered accounts differ only in the last bits.</summary>
    internal static ulong Mix(ulong hash)
    {
        unchecked
        {
            hash = (hash ^ (hash >> 32)) * Multiplier;
            hash = (hash ^ (hash >> 29)) * Multiplier;
            return hash ^ (hash >> 32);
        }
    }
}
