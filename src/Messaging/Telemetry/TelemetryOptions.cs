using System.ComponentModel.DataAnnotations;

namespace Billing.Messaging.Telemetry;

/// <summary>What a service says of itself to those who watch it; section <c>Billing:Telemetry</c>.</summary>
public sealed class TelemetryOptions
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Telemetry";

    /// <summary>The protocols of <see cref="OtlpProtocol"/>, as OTEL_EXPORTER_OTLP_PROTOCOL calls them.</summary>
    public const string Grpc = "grpc";

    /// <summary>Protobuf in HTTP/1.1 requests.</summary>
    public const string HttpProtobuf = "http/protobuf";

    /// <summary>Where metrics, traces and logs go over OTLP, e.g. <c>http://localhost:4317</c>. Empty: to the endpoint of
    /// OTEL_EXPORTER_OTLP_ENDPOINT, or nowhere where that is not set either.</summary>
    public string OtlpEndpoint { get; set; } = "";

    /// <summary>How <see cref="OtlpEndpoint"/> is spoken to: <c>grpc</c> or <c>http/protobuf</c>. Of an endpoint from the
    /// environment OTEL_EXPORTER_OTLP_PROTOCOL says it.</summary>
    public string OtlpProtocol { get; set; } = Grpc;

    /// <summary>The share of the calls that are traced of those whose callers say nothing about it. A caller that sends a
    /// <c>traceparent</c> decides for its own.</summary>
    [Range(0.0, 1.0, ErrorMessage = "Billing:Telemetry:TraceRatio must be between 0 and 1.")]
    public double TraceRatio { get; set; } = 0.01;

    /// <summary>Whether <c>/metrics</c> is there, in Prometheus' text format.</summary>
    public bool Prometheus { get; set; } = true;

    /// <summary>What is wrong with the settings, naming each.</summary>
    public IEnumerable<string> Problems()
    {
        if (OtlpEndpoint.Length > 0
            && !(Uri.TryCreate(OtlpEndpoint, UriKind.Absolute, out var endpoint) && endpoint.Scheme is "http" or "https"))
        {
            yield return $"Billing:Telemetry:OtlpEndpoint: '{OtlpEndpoint}' is not of the form http://host:port.";
        }
        if (OtlpProtocol is not (Grpc or HttpProtobuf))
        {
            yield return $"Billing:Telemetry:OtlpProtocol must be {Grpc} or {HttpProtobuf}; it is '{OtlpProtocol}'.";
        }
    }
}
