using System.Collections.Concurrent;
using Billing.IntegrationTests.Telemetry.Otlp;
using Billing.LocalStack.Processes;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Billing.IntegrationTests.Telemetry;

/// <summary>The telemetry that the services of a stack send over OTLP: traces of sampled calls,
/// logs and metrics.</summary>
internal static class StackTelemetry
{
    extension(StackFixture stack)
    {
        public OtlpReceiver Telemetry => (OtlpReceiver)stack.Watch!;
    }
}

/// <summary>Receives OTLP data like a collector: over gRPC on one port, as protobuf over HTTP on another.</summary>
public sealed class OtlpReceiver : ITelemetryReceiver
{
    private readonly WebApplication _app;
    private readonly ConcurrentQueue<ReceivedSpan> _spans = new();
    private readonly ConcurrentQueue<ReceivedLog> _logs = new();
    private readonly ConcurrentDictionary<(string Service, string Metric), string> _metrics = new();

    private OtlpReceiver(int grpcPort, int httpPort)
    {
        Grpc = $"http://127.0.0.1:{grpcPort}";
        Http = $"http://127.0.0.1:{httpPort}";
        var builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.ListenLocalhost(grpcPort, listen => listen.Protocols = HttpProtocols.Http2);
            kestrel.ListenLocalhost(httpPort);
        });
        builder.Logging.ClearProviders();
        builder.Services.AddGrpc();
        builder.Services.AddSingleton(this);
        _app = builder.Build();
        _app.MapGrpcService<Traces>();
        _app.MapGrpcService<Logs>();
        _app.MapGrpcService<Metrics>();
        _app.MapPost("/v1/traces", http => ReceiveAsync(http, ExportTraces.Parser, Receive));
        _app.MapPost("/v1/logs", http => ReceiveAsync(http, ExportLogs.Parser, Receive));
        _app.MapPost("/v1/metrics", http => ReceiveAsync(http, ExportMetrics.Parser, Receive));
    }

    /// <summary>The address for gRPC.</summary>
    public string Grpc { get; }

    /// <summary>The address for protobuf over HTTP.</summary>
    public string Http { get; }

    /// <summary>All log lines received so far.</summary>
    public IReadOnlyCollection<ReceivedLog> LogLines => _logs;

    /// <summary>The units of all metrics received so far, by service and metric name.</summary>
    public IReadOnlyDictionary<(string Service, string Metric), string> Units => _metrics;

    /// <inheritdoc/>
    public IReadOnlyDictionary<string, string> Settings => new Dictionary<string, string>
    {
        ["Billing__Telemetry__OtlpEndpoint"] = Grpc,
        ["Billing__Telemetry__TraceRatio"] = "1",
        ["OTEL_BSP_SCHEDULE_DELAY"] = "100",
        ["OTEL_BLRP_SCHEDULE_DELAY"] = "100",
        ["OTEL_METRIC_EXPORT_INTERVAL"] = "3000",
    };

    public static async Task<ITelemetryReceiver> WatchAsync() => await StartAsync();

    public static async Task<OtlpReceiver> StartAsync()
    {
        using var ports = new FreePorts();
        var receiver = new OtlpReceiver(ports.Take(), ports.Take());
        await receiver._app.StartAsync();
        return receiver;
    }

    /// <summary>Returns the spans of a trace received so far.</summary>
    public List<ReceivedSpan> SpansOf(string traceId) => [.. _spans.Where(s => s.TraceId == traceId)];

    /// <summary>Waits until the received data is sufficient; in the end it fails with a description of it.</summary>
    public static Task<T> WaitAsync<T>(Func<T> read, Func<T, bool> isEnough, Func<T, string> describe) =>
        WaitAsync(() => Task.FromResult(read()), isEnough, describe);

    /// <inheritdoc cref="WaitAsync{T}(Func{T}, Func{T, bool}, Func{T, string})"/>
    public static async Task<T> WaitAsync<T>(Func<Task<T>> read, Func<T, bool> isEnough, Func<T, string> describe)
    {
        var received = await Poll.LastAsync(read, isEnough, Patience);
        Assert.True(isEnough(received), describe(received));
        return received;
    }

    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private static async Task ReceiveAsync<T>(HttpContext http, MessageParser<T> parser, Action<T> receive)
        where T : IMessage<T>
    {
        using var body = new MemoryStream();
        await http.Request.Body.CopyToAsync(body);
        receive(parser.ParseFrom(body.ToArray()));
        http.Response.ContentType = "application/x-protobuf";
    }

    private void Receive(ExportTraces export)
    {
        foreach (var (service, scope) in export.ResourceSpans.SelectMany(
            r => r.ScopeSpans.Select(s => (ServiceOf(r.Resource), s))))
        {
            foreach (var span in scope.Spans)
            {
                _spans.Enqueue(new ReceivedSpan(service, scope.Scope.Name, span));
            }
        }
    }

    private void Receive(ExportLogs export)
    {
        foreach (var (service, scope) in export.ResourceLogs.SelectMany(
            r => r.ScopeLogs.Select(s => (ServiceOf(r.Resource), s))))
        {
            foreach (var record in scope.LogRecords)
            {
                _logs.Enqueue(new ReceivedLog(service, record.Body?.StringValue ?? "", Hex(record.TraceId)));
            }
        }
    }

    private void Receive(ExportMetrics export)
    {
        foreach (var (service, scope) in export.ResourceMetrics.SelectMany(
            r => r.ScopeMetrics.Select(s => (ServiceOf(r.Resource), s))))
        {
            foreach (var metric in scope.Metrics)
            {
                _metrics[(service, metric.Name)] = metric.Unit;
            }
        }
    }

    internal static string Hex(ByteString bytes) => Convert.ToHexStringLower(bytes.Span);

    private static string ServiceOf(Resource resource) =>
        resource.Attributes.Single(a => a.Key == "service.name").Value.StringValue;

    private sealed class Traces(OtlpReceiver receiver) : TraceService.TraceServiceBase
    {
        public override Task<Exported> Export(ExportTraces request, ServerCallContext context)
        {
            receiver.Receive(request);
            return Task.FromResult(new Exported());
        }
    }

    private sealed class Logs(OtlpReceiver receiver) : LogsService.LogsServiceBase
    {
        public override Task<Exported> Export(ExportLogs request, ServerCallContext context)
        {
            receiver.Receive(request);
            return Task.FromResult(new Exported());
        }
    }

    private sealed class Metrics(OtlpReceiver receiver) : MetricsService.MetricsServiceBase
    {
        public override Task<Exported> Export(ExportMetrics request, ServerCallContext context)
        {
            receiver.Receive(request);
            return Task.FromResult(new Exported());
        }
    }
}

/// <summary>A span with the service that sent it.</summary>
public sealed record ReceivedSpan(string Service, string Source, Span Span)
{
    public string TraceId { get; } = OtlpReceiver.Hex(Span.TraceId);

    public string Id { get; } = OtlpReceiver.Hex(Span.SpanId);

    public string ParentId { get; } = OtlpReceiver.Hex(Span.ParentSpanId);

    public double Milliseconds { get; } = (Span.EndTimeUnixNano - Span.StartTimeUnixNano) / 1e6;

    public string? Tag(string name) => Span.Attributes.FirstOrDefault(a => a.Key == name)?.Value switch
    {
        null => null,
        { ValueCase: AnyValue.ValueOneofCase.IntValue } value =>
            value.IntValue.ToString(System.Globalization.CultureInfo.InvariantCulture),
        var value => value.StringValue,
    };
}

/// <summary>A log line with the service that sent it.</summary>
public sealed record ReceivedLog(string Service, string Text, string TraceId);
