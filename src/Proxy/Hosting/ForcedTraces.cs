using System.Diagnostics;
using Billing.Messaging.Requests;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Http.Features;

namespace Billing.Proxy.Hosting;

/// <summary>Traces a call that its caller samples, if the caller has <see cref="Scopes.TracesForce"/>. Before callers
/// are known, only a share of the calls is traced, whatever they say of themselves; all keep the id of their caller's
/// trace.</summary>
internal static class ForcedTraces
{
    /// <summary>The middleware, which has to come after authorisation.</summary>
    public static Task InvokeAsync(HttpContext http, RequestDelegate next)
    {
        if (http.Features.Get<IHttpActivityFeature>()?.Activity is { Recorded: false, HasRemoteParent: true } span
            && ActivityContext.TryParse(span.ParentId, null, out var sent)
            && sent.TraceFlags.HasFlag(ActivityTraceFlags.Recorded)
            && Caller.Of(http).Has(Scopes.TracesForce))
        {
            span.ActivityTraceFlags |= ActivityTraceFlags.Recorded;
            span.IsAllDataRequested = true;
        }
        return next(http);
    }
}
