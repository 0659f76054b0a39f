using System.Diagnostics;
using System.Diagnostics.Metrics;
using Billing.Messaging.Telemetry;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Memory;
using Grpc.AspNetCore.Server;
using Grpc.Core;

namespace Billing.Proxy.Telemetry;

/// <summary>Measures every gRPC call to the proxy, including calls refused before they reach a service, and names its
/// span. Also reports how full the proxy is. REST calls are measured by ASP.NET Core itself.</summary>
internal sealed class CallMetrics : IDisposable
{
    public const string MeterName = "Billing.Proxy";

    private const string OtherMethod = "_OTHER";

    private static readonly KeyValuePair<string, object?> SystemName = new("rpc.system.name", "grpc");

    private readonly Meter _meter;
    private readonly Histogram<double> _durations;

    public CallMetrics(IMeterFactory meters, Admission admission, ProxyMemory memory)
    {
        _meter = meters.Create(MeterName);
        _durations = _meter.CreateHistogram(
            "rpc.server.call.duration", "s", "From the call's arrival until its status is sent.",
            advice: new InstrumentAdvice<double> { HistogramBucketBoundaries = MessagingMetrics.DurationBounds });
        _meter.CreateObservableGauge(
            "billing.proxy.places.used", () => admission.InFlight, "{place}",
            "Places taken by calls in flight, open streams, and the streams' payments in flight.");
        _meter.CreateObservableGauge(
            "billing.proxy.places.streams", () => admission.OfStreams, "{place}", "Places taken by streams.");
        _meter.CreateObservableGauge(
            "billing.proxy.places.limit", () => admission.Places, "{place}",
            "The limit on places; calls above it are refused.");
        _meter.CreateObservableGauge(
            "billing.proxy.caller.rate.limit", () => admission.CallerRate, "{call}/s",
            "The calls per second that a caller may make; 0 for any number.");
        _meter.CreateObservableGauge(
            "billing.proxy.memory.used", () => memory.Parts.Select(part => Measured(part, part.Taken)), "By",
            "What callers hold of the proxy's memory, each thing counted with what it takes at worst.");
        _meter.CreateObservableGauge(
            "billing.proxy.memory.limit", () => memory.Parts.Select(part => Measured(part, part.Bytes)), "By",
            "What all callers together may hold of the proxy's memory.");
    }

    public void Dispose() => _meter.Dispose();

    /// <summary>The middleware.</summary>
    public Task InvokeAsync(HttpContext http, RequestDelegate next) =>
        GrpcEndpoints.IsGrpc(http) && (_durations.Enabled || Activity.Current is { IsAllDataRequested: true })
            ? MeasureAsync(http, next)
            : next(http);

    private static Measurement<long> Measured(MemoryPart part, long bytes) =>
        new(bytes, new KeyValuePair<string, object?>("billing.memory.kind", part.Name));

    private async Task MeasureAsync(HttpContext http, RequestDelegate next)
    {
        var since = Stopwatch.GetTimestamp();
        var method = http.GetEndpoint()?.Metadata.GetMetadata<GrpcMethodMetadata>()?.Method.FullName is { } name
            ? name[1..]
            : OtherMethod;
        string? thrown = null;
        try
        {
            await next(http);
        }
        catch (Exception e)
        {
            thrown = e.GetType().FullName;
            throw;
        }
        finally
        {
            var status = StatusOf(http, thrown is not null);
            var isError = Errors.IsError(status, http);
            Record(method, Errors.NameOf(status), isError ? thrown ?? Errors.NameOf(status) : null, since);
        }
    }

    private void Record(string method, string status, string? error, long since)
    {
        if (Activity.Current is { IsAllDataRequested: true } span)
        {
            span.DisplayName = method;
            span.SetTag(SystemName.Key, SystemName.Value);
            span.SetTag("rpc.method", method);
            span.SetTag("rpc.response.status_code", status);
            if (error is not null)
            {
                span.SetTag("error.type", error);
                span.SetStatus(ActivityStatusCode.Error);
            }
        }
        if (!_durations.Enabled)
        {
            return;
        }
        var tags = new TagList { SystemName, new("rpc.method", method), new("rpc.response.status_code", status) };
        if (error is not null)
        {
            tags.Add("error.type", error);
        }
        _durations.Record(Stopwatch.GetElapsedTime(since).TotalSeconds, tags);
    }

    private static StatusCode StatusOf(HttpContext http, bool failed)
    {
        if (int.TryParse(
            GrpcFailure.TrailerOf(http, "grpc-status"), System.Globalization.CultureInfo.InvariantCulture, out var code)
            && Errors.IsStatus(code))
        {
            return (StatusCode)code;
        }
        return http.RequestAborted.IsCancellationRequested ? StatusCode.Cancelled
            : failed ? StatusCode.Unknown
            : OfHttp(http.Response.StatusCode);
    }

    /// <summary>The gRPC status that clients derive from an HTTP status if there is no gRPC status.</summary>
    private static StatusCode OfHttp(int status) => status switch
    {
        StatusCodes.Status400BadRequest => StatusCode.Internal,
        StatusCodes.Status401Unauthorized => StatusCode.Unauthenticated,
        StatusCodes.Status403Forbidden => StatusCode.PermissionDenied,
        StatusCodes.Status404NotFound => StatusCode.Unimplemented,
        StatusCodes.Status429TooManyRequests or StatusCodes.Status502BadGateway
            or StatusCodes.Status503ServiceUnavailable
            or StatusCodes.Status504GatewayTimeout => StatusCode.Unavailable,
        _ => StatusCode.Unknown,
    };
}
