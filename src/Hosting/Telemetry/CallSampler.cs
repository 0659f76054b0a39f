using System.Diagnostics;
using OpenTelemetry.Trace;

namespace Billing.Hosting.Telemetry;

/// <summary>Samples the traces that start in this service: a share of the incoming calls. Nothing else starts a trace,
/// so that statements and requests that a service makes in the background are not traced.</summary>
internal sealed class CallSampler(double ratio) : Sampler
{
    private static readonly SamplingResult Drop = new(SamplingDecision.Drop);

    private readonly TraceIdRatioBasedSampler _share = new(ratio);

    /// <summary>The sampler of a service.</summary>
    /// <param name="ratio">The share of the calls that are traced, 0 to 1.</param>
    /// <param name="callersDecide">Whether a call with a trace is traced if its caller samples it: only where all
    /// callers belong to the platform. Otherwise calls with a trace are sampled as those without one are.</param>
    public static Sampler Of(double ratio, bool callersDecide)
    {
        var calls = new CallSampler(ratio);
        return callersDecide
            ? new ParentBasedSampler(calls)
            : new ParentBasedSampler(
                calls, remoteParentSampled: new OfStrangers(calls, new AlwaysOnSampler()),
                remoteParentNotSampled: new OfStrangers(calls, new AlwaysOffSampler()));
    }

    public override SamplingResult ShouldSample(in SamplingParameters samplingParameters) =>
        samplingParameters.Kind == ActivityKind.Server ? _share.ShouldSample(samplingParameters) : Drop;

    // Records, whose context comes from the platform itself, are sampled as their senders are.
    private sealed class OfStrangers(CallSampler calls, Sampler records) : Sampler
    {
        // Not by the id of the trace, which the caller may choose to be in the share.
        public override SamplingResult ShouldSample(in SamplingParameters samplingParameters) =>
            samplingParameters.Kind == ActivityKind.Server
                ? calls.ShouldSample(new SamplingParameters(
                    default, ActivityTraceId.CreateRandom(), samplingParameters.Name, samplingParameters.Kind,
                    samplingParameters.Tags, samplingParameters.Links))
                : records.ShouldSample(samplingParameters);
    }
}
