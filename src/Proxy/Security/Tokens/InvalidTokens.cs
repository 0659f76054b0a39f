using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Grpc.Core;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Security.Tokens;

/// <summary>Limits the tokens whose signature is wrong, which costs the processor more than everything else that a
/// proxy does for a call. Everything in such a token is the sender's invention, so it is counted by what the sender
/// cannot choose: its address; and so that others at that address, such as a gateway's, are not shut out, it comes
/// first from what only they have: the subject, if a valid token at that address had it, and the connection, which
/// costs more than the few tokens that each may have wrong. A token is checked if one of the three allows it; a valid
/// one counts nowhere. Thread-safe.</summary>
internal sealed class InvalidTokens(IOptions<LimitOptions> limits, TimeProvider time) : IDisposable
{
    /// <summary>How many invalid tokens each connection may send within a minute whatever its address sends.</summary>
    public const int OfConnection = 4;

    // Addresses and connections whose hashes end alike share a bucket: there are more addresses than memory.
    private const int Buckets = 16 * 1024;
    private const int SubjectsMax = 20_000;
    private const double Minute = 60;

    private static readonly TimeSpan KnownFor = TimeSpan.FromDays(1);

    private readonly TokenBucket?[] _addresses = new TokenBucket?[Buckets];
    private readonly TokenBucket?[] _connections = new TokenBucket?[Buckets];
    private readonly MemoryCache _subjects = new(new MemoryCacheOptions { SizeLimit = SubjectsMax });

    private int Allowed => limits.Value.InvalidTokensPerMinute;

    /// <summary>Asks for the check of a token, and counts it as invalid until it turns out to be valid.</summary>
    /// <param name="http">The request that it came with.</param>
    /// <param name="subject">The subject that it names.</param>
    /// <returns>The permit; or RESOURCE_EXHAUSTED.</returns>
    public Outcome<Permit> Take(HttpContext http, string subject)
    {
        var known = (Caller.AddressOf(http), subject);
        var address = BucketOf(_addresses, known.Item1, Allowed);
        TokenBucket?[] buckets =
        [
            _subjects.Get<TokenBucket>(known), BucketOf(_connections, http.Connection.Id, OfConnection), address,
        ];
        TimeSpan? wait = null;
        foreach (var bucket in buckets.OfType<TokenBucket>())
        {
            wait = bucket.Take();
            if (wait is null)
            {
                return new Permit(this, bucket, known);
            }
        }
        return new Failure(
            StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached,
            $"The address has sent more than {Allowed} invalid tokens a minute "
                + "(Billing:Limits:InvalidTokensPerMinute).")
        {
            RetryAfter = TimeSpan.FromMilliseconds(Math.Ceiling(wait!.Value.TotalMilliseconds)),
        };
    }

    public void Dispose() => _subjects.Dispose();

    private TokenBucket BucketOf(TokenBucket?[] buckets, string key, int perMinute)
    {
        ref var place = ref buckets[(uint)key.GetHashCode(StringComparison.Ordinal) % Buckets];
        return Volatile.Read(ref place)
            ?? Interlocked.CompareExchange(ref place, NewBucket(perMinute), null) ?? Volatile.Read(ref place)!;
    }

    private TokenBucket NewBucket(int perMinute) => new(perMinute / Minute, perMinute, time);

    private void Know((string Address, string Subject) known)
    {
        if (known.Subject.Length > 0 && !_subjects.TryGetValue(known, out _))
        {
            _subjects.Set(
                known, NewBucket(Allowed), new MemoryCacheEntryOptions { Size = 1, SlidingExpiration = KnownFor });
        }
    }

    /// <summary>The permit to check a token.</summary>
    internal sealed class Permit(InvalidTokens invalid, TokenBucket bucket, (string Address, string Subject) known)
    {
        /// <summary>Gives it back: its token was valid.</summary>
        public void WasForValidToken()
        {
            bucket.Return();
            invalid.Know(known);
        }
    }
}
