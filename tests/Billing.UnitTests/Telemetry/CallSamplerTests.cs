using System.Diagnostics;
using Billing.Hosting.Telemetry;
using OpenTelemetry.Trace;

namespace Billing.UnitTests.Telemetry;

public sealed class CallSamplerTests
{
    // In the share of every sampler that goes by the id, however small that is.
    private static readonly ActivityTraceId Chosen =
        ActivityTraceId.CreateFromString("00000000000000000000000000000001");

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_caller_decides_neither_by_its_flag_nor_by_the_id_of_its_trace(bool samples)
    {
        var calls = Enumerable.Range(0, 200).Select(_ => IsSampled(0.5, ActivityKind.Server, samples)).ToList();

        Assert.Contains(true, calls);
        Assert.Contains(false, calls);
        Assert.False(IsSampled(0, ActivityKind.Server, samples));
        Assert.True(IsSampled(1, ActivityKind.Server, samples));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_record_of_the_platform_is_traced_if_its_sender_has_sampled_it(bool samples) =>
        Assert.Equal(samples, IsSampled(0.5, ActivityKind.Consumer, samples));

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Where_all_callers_belong_to_the_platform_they_decide(bool samples) =>
        Assert.Equal(samples, IsSampled(0.5, ActivityKind.Server, samples, callersDecide: true));

    [Fact]
    public void Nothing_but_a_call_begins_a_trace()
    {
        var begun = Enum.GetValues<ActivityKind>().Where(kind => CallSampler.Of(1, callersDecide: false)
            .ShouldSample(new SamplingParameters(default, ActivityTraceId.CreateRandom(), "any", kind))
            .Decision == SamplingDecision.RecordAndSample);

        Assert.Equal([ActivityKind.Server], begun);
    }

    private static bool IsSampled(double ratio, ActivityKind kind, bool samples, bool callersDecide = false)
    {
        var caller = new ActivityContext(
            Chosen, ActivitySpanId.CreateRandom(),
            samples ? ActivityTraceFlags.Recorded : ActivityTraceFlags.None, isRemote: true);
        return CallSampler.Of(ratio, callersDecide)
            .ShouldSample(new SamplingParameters(caller, Chosen, "any", kind)).Decision
            == SamplingDecision.RecordAndSample;
    }
}
