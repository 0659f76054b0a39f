using System.Reflection;
using Billing.Messaging.Hosting;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using OpenTelemetry.Exporter;
using OpenTelemetry.Logs;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;

namespace Billing.Messaging.Telemetry;

/// <summary>Sets a service up to be watched: metrics on <c>/metrics</c>, and metrics, traces and logs over OTLP where an
/// endpoint is set. What nobody asked for is not measured.</summary>
public static class ServiceTelemetry
{
    /// <summary>Where metrics are read.</summary>
    public const string MetricsPath = "/metrics";

    // All by name, so that a process has whatever of them it makes.
    private static readonly string[] Meters =
    [
        "Billing.Proxy", "Billing.Backends", MessagingMetrics.MeterName, "Npgsql", "System.Runtime",
        "Microsoft.AspNetCore.Hosting", "Microsoft.AspNetCore.Server.Kestrel",
    ];

    private static readonly string[] Sources = [Tracing.SourceName, "Microsoft.AspNetCore", "System.Net.Http", "Grpc.Net.Client", "Npgsql"];

    // The standard environment, in any of its parts: the SDK reads the rest of it by itself.
    private static readonly string[] EndpointVariables =
    [
        "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
    ];

    /// <summary>Adds what the service is watched by.</summary>
    /// <param name="builder">The service's builder.</param>
    /// <param name="serviceName">What it is called, unless OTEL_SERVICE_NAME says otherwise, e.g. <c>billing-proxy</c>.</param>
    public static void AddTelemetry(this WebApplicationBuilder builder, string serviceName)
    {
        var section = builder.Configuration.GetSection(TelemetryOptions.Section);
        builder.Services.AddOptions<TelemetryOptions>().Bind(section).ValidateDataAnnotations().ValidateOnStart();
        builder.Services.AddSingleton<IValidateOptions<TelemetryOptions>>(
            new ProblemValidation<TelemetryOptions>(options => options.Problems()));
        var options = section.Get<TelemetryOptions>() ?? new TelemetryOptions();
        if (options.Problems().Any())
        {
            // The validation at start says so; what cannot be used is not built before.
            return;
        }
        var exports = options.OtlpEndpoint.Length > 0
            || EndpointVariables.Any(variable => builder.Configuration[variable] is { Length: > 0 });
        var resource = ResourceOf(serviceName);
        if (options.Prometheus || exports)
        {
            builder.Services.AddSingleton(_ => BuildMetrics(options, exports, resource));
        }
        if (exports)
        {
            builder.Services.AddSingleton(_ => BuildTraces(options, resource));
            builder.Logging.AddOpenTelemetry(logs =>
            {
                logs.SetResourceBuilder(resource);
                logs.IncludeFormattedMessage = true;
                logs.ParseStateValues = true;
                logs.AddOtlpExporter(otlp => Direct(otlp, options, "logs"));
            });
        }
    }

    /// <summary>Starts to measure, and maps <c>/metrics</c>.</summary>
    /// <returns>What keeps it to those that it is for; null where it is not mapped.</returns>
    public static IEndpointConventionBuilder? MapTelemetry(this WebApplication app)
    {
        if (app.Services.GetService<TracerProvider>() is not null)
        {
            app.Use((RequestDelegate next) => http => SpanNames.NameRequestAsync(http, next));
        }
        var metrics = app.Services.GetService<MeterProvider>();
        return metrics is not null && app.Services.GetRequiredService<IOptions<TelemetryOptions>>().Value.Prometheus
            ? app.MapPrometheusScrapingEndpoint(MetricsPath, metrics, configureBranchedPipeline: null, optionsName: null)
            : null;
    }

    private static MeterProvider BuildMetrics(TelemetryOptions options, bool exports, ResourceBuilder resource)
    {
        var metrics = OpenTelemetry.Sdk.CreateMeterProviderBuilder().SetResourceBuilder(resource).AddMeter(Meters);
        if (options.Prometheus)
        {
            metrics.AddPrometheusExporter(prometheus =>
            {
                // Two that read at the same moment get the same figures.
                prometheus.ScrapeResponseCacheDurationMilliseconds = 300;
                // The names say whose they are; the meter's on every series would be text for nothing.
                prometheus.ScopeInfoEnabled = false;
            });
        }
        if (exports)
        {
            metrics.AddOtlpExporter(otlp => Direct(otlp, options, "metrics"));
        }
        return metrics.Build();
    }

    private static TracerProvider BuildTraces(TelemetryOptions options, ResourceBuilder resource) =>
        OpenTelemetry.Sdk.CreateTracerProviderBuilder().SetResourceBuilder(resource).AddSource(Sources)
            .SetSampler(new ParentBasedSampler(new CallSampler(options.TraceRatio)))
            .AddProcessor(new SpanNames())
            .AddOtlpExporter(otlp => Direct(otlp, options, "traces"))
            .Build();

    private static void Direct(OtlpExporterOptions otlp, TelemetryOptions options, string signal)
    {
        if (options.OtlpEndpoint.Length == 0)
        {
            return;
        }
        var isHttp = options.OtlpProtocol == TelemetryOptions.HttpProtobuf;
        otlp.Protocol = isHttp ? OtlpExportProtocol.HttpProtobuf : OtlpExportProtocol.Grpc;
        // To an endpoint that is set here the exporter adds nothing.
        otlp.Endpoint = new Uri(options.OtlpEndpoint.TrimEnd('/') + (isHttp ? "/v1/" + signal : ""));
    }

    // The environment last, so that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
    private static ResourceBuilder ResourceOf(string serviceName) => ResourceBuilder.CreateEmpty()
        .AddTelemetrySdk()
        .AddService(
            serviceName, "billing", Assembly.GetExecutingAssembly().GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion,
            serviceInstanceId: $"{Environment.MachineName}-{Environment.ProcessId}")
        .AddEnvironmentVariableDetector();
}
