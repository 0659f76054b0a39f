using System.Threading.RateLimiting;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.AspNetCore.RateLimiting;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Hosting;

/// <summary>Limits the calls that anyone may make, which admission does not count.</summary>
internal sealed class AnonymousCalls(IOptions<LimitOptions> limits) : IRateLimiterPolicy<string>
{
    /// <summary>The policy's name.</summary>
    public const string Name = "anonymous";

    public Func<OnRejectedContext, CancellationToken, ValueTask>? OnRejected => (rejected, _) =>
    {
        // A gRPC answer has its status in the trailers.
        rejected.HttpContext.Response.StatusCode = StatusCodes.Status200OK;
        AccessRefusals.Answer(rejected.HttpContext, new Failure(
            StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached,
            $"The address already has {limits.Value.AnonymousCallsPerAddress} calls of health or reflection open "
                + "(Billing:Limits:AnonymousCallsPerAddress)."));
        return ValueTask.CompletedTask;
    };

    public RateLimitPartition<string> GetPartition(HttpContext httpContext) => RateLimitPartition.GetConcurrencyLimiter(
        Caller.AddressOf(httpContext),
        _ => new ConcurrencyLimiterOptions { PermitLimit = limits.Value.AnonymousCallsPerAddress });
}
