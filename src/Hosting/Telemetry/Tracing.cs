using System.Diagnostics;

namespace Billing.Hosting.Telemetry;

/// <summary>The spans that the platform creates itself, in addition to those of ASP.NET Core, HttpClient and Npgsql.</summary>
public static class Tracing
{
    /// <summary>The name of the activity source.</summary>
    public const string SourceName = "Billing";

    /// <summary>The name of the span of a call to a backend whose library creates no span.</summary>
    public const string ExecuteSpan = "billing.wire.v1.Backend/Execute";

    private const int TraceParentLength = 55;

    private static readonly ActivitySource Source = new(SourceName);

    /// <summary>Starts a span without making it the caller's current one: it continues after this method has returned and may end
    /// on any thread. Returns null if there is no listener or the trace is not sampled.</summary>
    /// <param name="name">The span's name.</param>
    /// <param name="kind">The relationship of the span to its parent.</param>
    /// <param name="parent">The parent; without one no span is started.</param>
    public static Activity? Start(string name, ActivityKind kind, ActivityContext parent)
    {
        if (!IsSampled(parent) || !Source.HasListeners())
        {
            return null;
        }
        var current = Activity.Current;
        var span = Source.StartActivity(name, kind, parent);
        Activity.Current = current;
        return span;
    }

    /// <summary>Starts a span for work that is done for several callers together and makes it the current one until it is
    /// disposed. It is a child of the first caller's span and has links to the others. Returns null if none of the callers is
    /// traced.</summary>
    /// <param name="name">The span's name.</param>
    /// <param name="joined">The spans of the callers; null for a caller that is not traced.</param>
    public static Activity? StartJoint(string name, IEnumerable<Activity?> joined)
    {
        if (!Source.HasListeners())
        {
            return null;
        }
        ActivityContext? first = null;
        List<ActivityLink>? links = null;
        foreach (var span in joined)
        {
            if (span is null || !IsSampled(span.Context))
            {
                continue;
            }
            if (first is null)
            {
                first = span.Context;
            }
            else
            {
                (links ??= []).Add(new ActivityLink(span.Context));
            }
        }
        return first is { } parent ? Source.StartActivity(name, ActivityKind.Internal, parent, links: links) : null;
    }

    /// <summary>Makes a span the current one until the result is disposed.</summary>
    public static Scope Within(Activity? span)
    {
        var before = Activity.Current;
        if (span is not null)
        {
            Activity.Current = span;
        }
        return new Scope(before);
    }

    /// <summary>Ends a span, on any thread, without changing that thread's current span.</summary>
    /// <param name="span">The span; may be null.</param>
    /// <param name="error">The error type, one of a few constants; null if there was no error.</param>
    public static void End(Activity? span, string? error = null)
    {
        if (span is null)
        {
            return;
        }
        if (error is not null)
        {
            span.SetTag("error.type", error);
            span.SetStatus(ActivityStatusCode.Error);
        }
        var current = Activity.Current;
        span.Stop();
        Activity.Current = current;
    }

    /// <summary>The context of the current span if it is sampled; otherwise the default context.</summary>
    public static ActivityContext Current =>
        Activity.Current is { IdFormat: ActivityIdFormat.W3C, Recorded: true } current ? current.Context : default;

    /// <summary>Restores the previous current span when it is disposed.</summary>
    /// <param name="before">The previous current span.</param>
    public readonly struct Scope(Activity? before) : IDisposable
    {
        /// <summary>Restores the previous current span.</summary>
        public void Dispose() => Activity.Current = before;
    }

    /// <summary>Returns whether the trace of a context is sampled.</summary>
    public static bool IsSampled(ActivityContext context) => (context.TraceFlags & ActivityTraceFlags.Recorded) != 0;

    /// <summary>Returns the W3C traceparent of a context.</summary>
    public static string TraceParent(ActivityContext context) => $"00-{context.TraceId.ToHexString()}-{context.SpanId.ToHexString()}-01";

    /// <summary>Parses a received traceparent. Returns the default context if it is invalid or not sampled.</summary>
    public static ActivityContext Parse(string? traceParent, string? traceState = null) =>
        traceParent is { Length: TraceParentLength } && ActivityContext.TryParse(traceParent, traceState, isRemote: true, out var context)
            && IsSampled(context)
            ? context
            : default;
}
