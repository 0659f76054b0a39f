using System.Diagnostics;

namespace Billing.Hosting.Telemetry;

/// <summary>The spans that the platform creates itself, in addition to those of ASP.NET Core,
/// HttpClient and Npgsql.</summary>
public static class Tracing
{
    /// <summary>The name of the activity source.</summary>
    public const string SourceName = "Billing";

    /// <summary>The name of the span of a call to a backend whose library creates no span.</summary>
    public const string ExecuteSpan = "billing.wire.v1.Backend/Execute";

    private const int TraceParentLength = 55;

    private static readonly ActivitySource Source = new(SourceName);

    /// <summary>Starts a span without making it the caller's current one: it continues after this method
    /// has returned and may end on any thread. Returns null if there is no listener, no parent, or the
    /// trace is not sampled.</summary>
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

    /// <summary>Starts a span for work that is done for several callers together and makes it the current one until it
    /// is disposed. It is a child of the first caller's span and has links to the others; the span of a caller that is
    /// not traced is null. Returns null if none of the callers is traced.</summary>
    public static Activity? StartJoint(string name, IEnumerable<Activity?> joined)
    {
        if (!Source.HasListeners())
        {
            return null;
        }
        var traced = joined.OfType<Activity>().Where(span => span.Recorded).Select(span => span.Context).ToList();
        return traced.Count == 0 ? null : Source.StartActivity(
            name, ActivityKind.Internal, traced[0], links: traced.Skip(1).Select(context => new ActivityLink(context)));
    }

    /// <summary>Ends a span, on any thread, without changing that thread's current span.
    /// The error type is one of a few constants; null if there was no error.</summary>
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

    /// <summary>The context of the current span if it is sampled; otherwise, and where nothing is traced, the default
    /// context. Without a tracer, a span is sampled if its caller says so.</summary>
    public static ActivityContext Current =>
        Source.HasListeners() && Activity.Current is { IdFormat: ActivityIdFormat.W3C, Recorded: true } current
            ? current.Context
            : default;

    /// <summary>Returns the W3C traceparent of a context.</summary>
    public static string TraceParent(ActivityContext context) =>
        $"00-{context.TraceId.ToHexString()}-{context.SpanId.ToHexString()}-01";

    /// <summary>Parses a received traceparent. Returns the default context if it is invalid or not sampled.</summary>
    public static ActivityContext Parse(string? traceParent, string? traceState = null) =>
        traceParent is { Length: TraceParentLength }
        && ActivityContext.TryParse(traceParent, traceState, isRemote: true, out var context)
            && IsSampled(context)
            ? context
            : default;

    private static bool IsSampled(ActivityContext context) => (context.TraceFlags & ActivityTraceFlags.Recorded) != 0;
}
