using System.Security.Cryptography;
using System.Text;

namespace Billing.Backends.EventStore;

/// <summary>The shards of the event store: a fixed number of groups of accounts, each of which is in one of the
/// databases as a whole.</summary>
public static class Shard
{
    /// <summary>Number of shards; they are numbered from 0. It never changes, whatever the number of
    /// databases.</summary>
    public const int Count = 64;

    /// <summary>The function of the database that does the same as <see cref="Of(string)"/>.</summary>
    internal const string Function = "shard_of";

    /// <summary>The body of that function, in SQL.</summary>
    internal const string FunctionBody = "select get_byte(sha256(convert_to(stream, 'UTF8')), 0) & 63";

    /// <summary>The incarnation that the events of a shard state, by the shard's number.
    /// The first number is that of all stores, and no event states it.</summary>
    public static long IncarnationOf(long epoch) => epoch > 1 ? epoch : 0;

    /// <summary>The shard of an account: a hash that any program and the database can compute.</summary>
    public static int Of(string streamId)
    {
        var length = Encoding.UTF8.GetByteCount(streamId);
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        var text = length <= 256 ? stackalloc byte[256] : new byte[length];
        Encoding.UTF8.GetBytes(streamId, text);
        SHA256.HashData(text[..length], hash);
        return hash[0] & (Count - 1);
    }

    /// <summary>The shards of accounts, each once.</summary>
    internal static int[] Of(IEnumerable<string> streamIds)
    {
        var found = 0UL;
        foreach (var streamId in streamIds)
        {
            found |= 1UL << Of(streamId);
        }
        return [.. Enumerable.Range(0, Count).Where(shard => (found >> shard & 1) != 0)];
    }
}
