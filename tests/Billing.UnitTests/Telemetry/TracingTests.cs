using System.Diagnostics;
using Billing.Hosting.Telemetry;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;

namespace Billing.UnitTests.Telemetry;

[Collection(nameof(TracingTests))]
public sealed class TracingTests : IDisposable
{
    private static readonly ActivityContext Caller = new(
        ActivityTraceId.CreateRandom(), ActivitySpanId.CreateRandom(),
        ActivityTraceFlags.Recorded, "vendor=1", isRemote: true);

    private readonly ActivityListener _listener = new()
    {
        ShouldListenTo = source => source.Name == Tracing.SourceName,
        Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
    };

    public TracingTests() => ActivitySource.AddActivityListener(_listener);

    public void Dispose() => _listener.Dispose();

    [Fact]
    public void A_record_sent_within_a_span_contains_the_context_of_its_send_span()
    {
        using var call = Tracing.StartJoint("call", [Tracing.Start("caller", ActivityKind.Server, Caller)]);

        var send = KafkaTracing.StartSend("billing.payments.visa");
        var read = WireHeaders.TraceContext(WireHeaders.For(send));

        Assert.Same(call, Activity.Current);
        Assert.Equal((Caller.TraceId, send!.SpanId, "vendor=1"), (read.TraceId, read.SpanId, read.TraceState));
        Assert.Equal("send billing.payments.visa", send.DisplayName);
        Assert.Equal(call!.SpanId, send.ParentSpanId);
    }

    [Fact]
    public void The_span_of_a_reply_topic_is_named_without_the_proxys_id()
    {
        using var call = Tracing.StartJoint("call", [Tracing.Start("caller", ActivityKind.Server, Caller)]);
        var send = KafkaTracing.StartSend("billing.replies.20260131T120000Z-00000001");
        Assert.Equal("send billing.replies.{proxy}", send!.DisplayName);
        Assert.Equal("billing.replies.20260131T120000Z-00000001", send.GetTagItem("messaging.destination.name"));
    }

    [Fact]
    public void Without_tracing_a_record_has_no_additional_header()
    {
        Assert.Equal(
            "billing-wire", Assert.Single(WireHeaders.For(KafkaTracing.StartSend("billing.payments.visa"))).Key);
        Assert.Null(KafkaTracing.StartSend("billing.payments.visa"));
    }

    [Theory]
    [InlineData("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")]
    [InlineData("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7")]
    [InlineData("00-00000000000000000000000000000000-00f067aa0ba902b7-01")]
    [InlineData("00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01")]
    [InlineData("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]
    [InlineData("traced")]
    [InlineData("")]
    public void A_header_that_is_not_the_traceparent_of_a_sampled_trace_is_ignored(string header)
    {
        var headers = new Headers { { "traceparent", System.Text.Encoding.ASCII.GetBytes(header) } };
        Assert.Equal(default, WireHeaders.TraceContext(headers));
        Assert.Null(Tracing.Start("process", ActivityKind.Consumer, WireHeaders.TraceContext(headers)));
    }

    [Fact]
    public void A_joint_span_is_a_child_of_the_first_span_and_links_to_the_others()
    {
        var spans = Enumerable.Range(0, 3)
            .Select(_ => Tracing.Start("process", ActivityKind.Consumer, new ActivityContext(
                ActivityTraceId.CreateRandom(), ActivitySpanId.CreateRandom(), ActivityTraceFlags.Recorded))).ToList();

        using var joint = Tracing.StartJoint("record", [null, .. spans]);

        Assert.Equal(spans[0]!.SpanId, joint!.ParentSpanId);
        Assert.Equal(spans.Skip(1).Select(s => s!.Context), joint.Links.Select(l => l.Context));
        Assert.Same(joint, Activity.Current);
    }

    [Fact]
    public void No_joint_span_is_started_if_nothing_is_traced()
    {
        Assert.Null(Tracing.StartJoint("record", [null, null]));
        Assert.Null(Activity.Current);
    }

    [Fact]
    public void Starting_and_ending_a_span_does_not_change_the_current_span()
    {
        using var current = Tracing.StartJoint("call", [Tracing.Start("caller", ActivityKind.Server, Caller)]);
        var span = Tracing.Start("process", ActivityKind.Consumer, Caller);
        Assert.Same(current, Activity.Current);
        Tracing.End(span, "refused");
        Assert.Same(current, Activity.Current);
        Assert.Equal((ActivityStatusCode.Error, "refused"), (span!.Status, span.GetTagItem("error.type")));
        Assert.True(span.IsStopped);
    }
}
