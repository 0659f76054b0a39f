using System.Diagnostics;

namespace Billing.Messaging.Telemetry;

/// <summary>The spans that the platform makes of its own, beside those of ASP.NET Core, HttpClient and Npgsql.</summary>
public static class Tracing
{
    /// <summary>The name of the source.</summary>
    public const string SourceName = "Billing";

    /// <summary>What a call to a backend is called where nobody else names it.</summary>
    public const string ExecuteSpan = "billing.wire.v1.Backend/Execute";

    private const int TraceParentLength = 55;

    private static readonly ActivitySource Source = new(SourceName);

    /// <summary>Starts a span that is not the current one of whoever calls: it goes on when the call has returned, and ends on
    /// any thread. Null where nobody listens, or its trace is not sampled.</summary>
    /// <param name="name">The span's name.</param>
    /// <param name="kind">What it is to its parent.</param>
    /// <param name="parent">The parent; without one there is no span.</param>
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

    /// <summary>Starts a span for what is done for several callers at once, as the current one until it is disposed of: it is a
    /// child of the first one's span and has a link to each other's. Null where none of them is traced.</summary>
    /// <param name="name">The span's name.</param>
    /// <param name="joined">The spans of those that it is done for; null for one that is not traced.</param>
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

    /// <summary>Makes a span the current one until the result is disposed of.</summary>
    public static Scope Within(Activity? span)
    {
        var before = Activity.Current;
        if (span is not null)
        {
            Activity.Current = span;
        }
        return new Scope(before);
    }

    /// <summary>Ends a span, on whatever thread, without a change to that thread's current one.</summary>
    /// <param name="span">The span; null where there is none.</param>
    /// <param name="error">What went wrong, a word of few; null where nothing did.</param>
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

    /// <summary>The current span, where it is sampled; without one there is nothing to hand on.</summary>
    public static ActivityContext Current =>
        Activity.Current is { IdFormat: ActivityIdFormat.W3C, Recorded: true } current ? current.Context : default;

    /// <summary>The time in which a span is the current one.</summary>
    /// <param name="before">The current one before.</param>
    public readonly struct Scope(Activity? before) : IDisposable
    {
        /// <summary>Ends it.</summary>
        public void Dispose() => Activity.Current = before;
    }

    /// <summary>Whether a context leads to a trace that somebody will read.</summary>
    public static bool IsSampled(ActivityContext context) => (context.TraceFlags & ActivityTraceFlags.Recorded) != 0;

    /// <summary>W3C's traceparent of a context.</summary>
    public static string TraceParent(ActivityContext context) => $"00-{context.TraceId.ToHexString()}-{context.SpanId.ToHexString()}-01";

    /// <summary>Reads what came from elsewhere; what is no traceparent of a sampled trace is as good as none.</summary>
    public static ActivityContext Parse(string? traceParent, string? traceState = null) =>
        traceParent is { Length: TraceParentLength } && ActivityContext.TryParse(traceParent, traceState, isRemote: true, out var context)
            && IsSampled(context)
            ? context
            : default;
}
