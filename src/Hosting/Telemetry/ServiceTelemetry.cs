using System.Reflection;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using OpenTelemetry;
using OpenTelemetry.Exporter;
using OpenTelemetry.Logs;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;

namespace Billing.Hosting.Telemetry;

/// <summary>Configures the telemetry of a service: metrics on <c>/metrics</c>, and metrics, traces and logs over OTLP
/// if an endpoint is set. Nothing is measured that is not exported.</summary>
public static class ServiceTelemetry
{
    /// <summary>The path of the metrics.</summary>
    public const string MetricsPath = "/metrics";

    // By name, so that each process exports those of them that it creates.
    private static readonly string[] Meters =
    [
        "Billing.Proxy", "Billing.Backends", "Billing.Webhooks", "Billing.Messaging",
        ClockWatch.MeterName, "Npgsql", "System.Runtime",
        "Microsoft.AspNetCore.Hosting", "Microsoft.AspNetCore.Server.Kestrel",
    ];

    private static readonly string[] Sources =
    [
        Tracing.SourceName, "Microsoft.AspNetCore", "System.Net.Http", "Grpc.Net.Client", "Npgsql",
    ];

    // Any of the standard environment variables for endpoints; the SDK itself reads the other variables.
    private static readonly string[] EndpointVariables =
    [
        "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
    ];

    /// <summary>Adds metrics, traces and logs, as far as they are configured.</summary>
    /// <param name="builder">The service's builder.</param>
    /// <param name="serviceName">The name of the service, e.g. <c>billing-proxy</c>;
    /// OTEL_SERVICE_NAME overrides it.</param>
    /// <param name="callersDecide">Whether a call is traced if its caller samples it: where all callers belong to the
    /// platform.</param>
    public static void AddTelemetry(
        this WebApplicationBuilder builder, string serviceName, bool callersDecide = true)
    {
        var options = builder.Services.AddSettings<TelemetryOptions>(
            builder.Configuration, TelemetryOptions.Section, options => options.ValidationErrors());
        if (options.ValidationErrors().Any())
        {
            // The validation at start reports the problems; nothing is built with invalid settings.
            return;
        }
        var exports = options.OtlpEndpoint.Length > 0
            || EndpointVariables.Any(variable => builder.Configuration[variable] is { Length: > 0 });
        if (!options.Prometheus && !exports)
        {
            return;
        }
        var telemetry = builder.Services.AddOpenTelemetry()
            .ConfigureResource(resource => Describe(resource.Clear(), serviceName))
            .WithMetrics(metrics => Configure(metrics, options));
        if (exports)
        {
            telemetry
                .WithTracing(traces => traces
                    .AddSource(Sources)
                    .SetSampler(CallSampler.Of(options.TraceRatio, callersDecide))
                    .AddProcessor(new SpanNames()))
                .WithLogging(
                    configureBuilder: null,
                    logs => (logs.IncludeFormattedMessage, logs.ParseStateValues) = (true, true));
            Export(telemetry, options);
        }
    }

    /// <summary>Starts measuring and maps <c>/metrics</c>.</summary>
    /// <returns>The endpoint, for restricting access to it; null if it is not mapped.</returns>
    public static IEndpointConventionBuilder? MapTelemetry(this WebApplication app)
    {
        if (app.Services.GetService<TracerProvider>() is not null)
        {
            app.Use((RequestDelegate next) => http => SpanNames.NameRequestAsync(http, next));
        }
        var metrics = app.Services.GetService<MeterProvider>();
        return metrics is not null && app.Services.GetRequiredService<IOptions<TelemetryOptions>>().Value.Prometheus
            ? app.MapPrometheusScrapingEndpoint(
                MetricsPath, metrics, configureBranchedPipeline: null, optionsName: null)
            : null;
    }

    private static void Configure(MeterProviderBuilder metrics, TelemetryOptions options)
    {
        metrics.AddMeter(Meters);
        if (options.Prometheus)
        {
            metrics.AddPrometheusExporter(prometheus =>
            {
                // Concurrent scrapes share one response.
                prometheus.ScrapeResponseCacheDurationMilliseconds = 300;
                // The metric names are unambiguous; the meter's name on every series would be redundant.
                prometheus.ScopeInfoEnabled = false;
            });
        }
    }

    // Without an endpoint in the settings, the exporter reads the environment.
    private static void Export(IOpenTelemetryBuilder telemetry, TelemetryOptions options)
    {
        if (options.OtlpEndpoint.Length == 0)
        {
            telemetry.UseOtlpExporter();
            return;
        }
        var protocol = options.OtlpProtocol == TelemetryOptions.HttpProtobuf
            ? OtlpExportProtocol.HttpProtobuf
            : OtlpExportProtocol.Grpc;
        telemetry.UseOtlpExporter(protocol, new Uri(options.OtlpEndpoint));
    }

    // The environment comes last, so that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
    private static void Describe(ResourceBuilder resource, string serviceName) => resource
        .AddTelemetrySdk()
        .AddService(
            serviceName, "billing", Assembly.GetExecutingAssembly()
                .GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion,
            serviceInstanceId: $"{Environment.MachineName}-{Environment.ProcessId}")
        .AddEnvironmentVariableDetector();
}
