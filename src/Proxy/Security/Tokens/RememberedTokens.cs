using System.Security.Cryptography;
using System.Text;
using Billing.Hosting;
using Microsoft.Extensions.Caching.Memory;

namespace Billing.Proxy.Security.Tokens;

/// <summary>The valid tokens that were seen lately, with their callers: the check of a signature costs more than
/// everything else that a proxy does for a call. A token is known until it expires or its key is removed, unless others
/// need its place.</summary>
internal sealed class RememberedTokens(TimeProvider time) : IDisposable
{
    // What is known of a token takes about as much memory as the token, which may be as long as all headers together.
    private const long BytesMax = 16 * 1024 * 1024;

    private static readonly TimeSpan KeptMax = TimeSpan.FromDays(1);

    private readonly MemoryCache _callers = new(new MemoryCacheOptions { SizeLimit = BytesMax });

    /// <summary>Number of tokens that are remembered.</summary>
    public int Count => _callers.Count;

    /// <summary>Returns the caller of a token; null if the token is not known, or not valid any more.</summary>
    public Caller? Find(string token) =>
        _callers.TryGetValue(KeyOf(token), out Caller? caller)
        && Now < caller!.Until && !caller.Revoked.IsCancellationRequested ? caller : null;

    /// <summary>Remembers a valid token.</summary>
    public void Add(string token, Caller caller)
    {
        var left = caller.Until!.Value - Now;
        if (left > TimeSpan.Zero)
        {
            _callers.Set(KeyOf(token), caller, new MemoryCacheEntryOptions
            {
                Size = token.Length,
                AbsoluteExpirationRelativeToNow = left < KeptMax ? left : KeptMax,
            });
        }
    }

    public void Dispose() => _callers.Dispose();

    private DateTimeOffset Now => time.AgreedClock().GetUtcNow();

    private static string KeyOf(string token) =>
        Convert.ToBase64String(SHA256.HashData(Encoding.UTF8.GetBytes(token)));
}
