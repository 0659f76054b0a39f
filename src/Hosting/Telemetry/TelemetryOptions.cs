using System.ComponentModel.DataAnnotations;

namespace Billing.Hosting.Telemetry;

/// <summary>Settings of the telemetry of a service; section <c>Billing:Telemetry</c>.</summary>
internal sealed class TelemetryOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Telemetry";

    /// <summary>gRPC, a value of <see cref="OtlpProtocol"/>, with the name used in
    /// OTEL_EXPORTER_OTLP_PROTOCOL.</summary>
    public const string Grpc = "grpc";

    /// <summary>Protobuf in HTTP/1.1 requests, a value of <see cref="OtlpProtocol"/>.</summary>
    public const string HttpProtobuf = "http/protobuf";

    /// <summary>The OTLP endpoint for metrics, traces and logs, e.g. <c>http://localhost:4317</c>. If
    /// empty, the endpoint of OTEL_EXPORTER_OTLP_ENDPOINT is used; if that is not set either, nothing is
    /// exported over OTLP.</summary>
    public string OtlpEndpoint { get; set; } = "";

    /// <summary>The protocol of <see cref="OtlpEndpoint"/>: <c>grpc</c> or <c>http/protobuf</c>.
    /// For an endpoint from the environment, OTEL_EXPORTER_OTLP_PROTOCOL applies.</summary>
    public string OtlpProtocol { get; set; } = Grpc;

    /// <summary>The share of calls that are traced, 0 to 1. A caller of a proxy that may force traces decides itself
    /// which of its other calls are traced, too, by sending a sampled <c>traceparent</c>.</summary>
    [Range(0.0, 1.0)]
    public double TraceRatio { get; set; } = 0.01;

    /// <summary>Whether metrics are available at <c>/metrics</c> in Prometheus' text format.</summary>
    public bool Prometheus { get; set; } = true;

    /// <summary>Returns one message for each invalid setting.</summary>
    public IEnumerable<string> ValidationErrors()
    {
        if (OtlpEndpoint.Length > 0
            && !(Uri.TryCreate(OtlpEndpoint, UriKind.Absolute, out var endpoint)
                && endpoint.Scheme is "http" or "https"))
        {
            yield return $"Billing:Telemetry:OtlpEndpoint: '{OtlpEndpoint}' is not of the form http://host:port.";
        }
        if (OtlpProtocol is not (Grpc or HttpProtobuf))
        {
            yield return $"Billing:Telemetry:OtlpProtocol must be {Grpc} or {HttpProtobuf}; it is '{OtlpProtocol}'.";
        }
    }
}
