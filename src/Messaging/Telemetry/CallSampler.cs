using System.Diagnostics;
using OpenTelemetry.Trace;

namespace Billing.Messaging.Telemetry;

/// <summary>Decides which traces begin here: a share of the calls that come in without one. Nothing else begins a trace, so
/// that the statements and requests that a service makes on its own account, for all of its callers, are none.</summary>
/// <param name="ratio">The share, 0 to 1.</param>
internal sealed class CallSampler(double ratio) : Sampler
{
    private static readonly SamplingResult Drop = new(SamplingDecision.Drop);

    private readonly TraceIdRatioBasedSampler _share = new(ratio);

    /// <inheritdoc/>
    public override SamplingResult ShouldSample(in SamplingParameters samplingParameters) =>
        samplingParameters.Kind == ActivityKind.Server ? _share.ShouldSample(samplingParameters) : Drop;
}
