using System.Diagnostics;
using OpenTelemetry.Trace;

namespace Billing.Hosting.Telemetry;

/// <summary>Samples the traces that start in this service: a share of the incoming calls that carry no trace. Nothing else
/// starts a trace, so that statements and requests that a service makes in the background are not traced.</summary>
/// <param name="ratio">The sampled share, 0 to 1.</param>
internal sealed class CallSampler(double ratio) : Sampler
{
    private static readonly SamplingResult Drop = new(SamplingDecision.Drop);

    private readonly TraceIdRatioBasedSampler _share = new(ratio);

    /// <inheritdoc/>
    public override SamplingResult ShouldSample(in SamplingParameters samplingParameters) =>
        samplingParameters.Kind == ActivityKind.Server ? _share.ShouldSample(samplingParameters) : Drop;
}
