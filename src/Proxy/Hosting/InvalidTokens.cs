using System.Threading.RateLimiting;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.AspNetCore.Authentication.JwtBearer;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Hosting;

/// <summary>Limits the invalid tokens of an address: to check the signature of one costs more than everything else that
/// a proxy does for a call. Beyond the limit a token is refused unseen, unless it was found valid before: many callers
/// may share the address of a gateway.</summary>
internal sealed class InvalidTokens(TokenCallers callers, IOptions<LimitOptions> limits) : IDisposable
{
    private static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    private readonly PartitionedRateLimiter<HttpContext> _invalid = PartitionedRateLimiter.Create<HttpContext, string>(
        http => RateLimitPartition.GetFixedWindowLimiter(Caller.AddressOf(http), _ => new FixedWindowRateLimiterOptions
        {
            PermitLimit = limits.Value.InvalidTokensPerMinute,
            Window = Window,
        }));

    /// <summary>Adds the limit to the validation of tokens, after the check whether a token is remembered.</summary>
    public void Configure(JwtBearerOptions bearer)
    {
        var recall = bearer.Events.OnMessageReceived;
        bearer.Events.OnMessageReceived = async received =>
        {
            await recall(received);
            // The limit first: below it no token needs to be known.
            if (received.Result is null && received.Request.Headers.Authorization is [{ } header, ..]
                && Refusal(received.HttpContext) is { } refusal && !callers.Knows(header))
            {
                received.Fail(new FailureException(refusal));
            }
        };
        bearer.Events.OnAuthenticationFailed = failed =>
        {
            _invalid.AttemptAcquire(failed.HttpContext).Dispose();
            return Task.CompletedTask;
        };
    }

    public void Dispose() => _invalid.Dispose();

    private Failure? Refusal(HttpContext http)
    {
        // Takes nothing: only a token that turns out to be invalid counts.
        using var lease = _invalid.AttemptAcquire(http, permitCount: 0);
        return lease.IsAcquired ? null : new Failure(
            StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached,
            $"The address has sent {limits.Value.InvalidTokensPerMinute} invalid tokens within a minute "
                + "(Billing:Limits:InvalidTokensPerMinute).")
        {
            RetryAfter = lease.TryGetMetadata(MetadataName.RetryAfter, out var wait) ? wait : Window,
        };
    }
}
