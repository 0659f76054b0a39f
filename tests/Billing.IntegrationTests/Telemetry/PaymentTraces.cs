using System.Globalization;
using System.Security.Cryptography;
using Billing.IntegrationTests.Services;
using Grpc.Core;
using Npgsql;

namespace Billing.IntegrationTests.Telemetry;

/// <summary>One payment is one trace, from its client's call to the stored event and back, with every
/// transport of the command.</summary>
public abstract class PaymentTraces(StackFixture stack, string[] requestPath, string[] replyPath)
{
    private static readonly string[] BackendSteps = ["receipts", "record", "reply"];

    [Fact]
    public async Task One_payment_is_one_trace_from_its_call_to_the_stored_event_and_back()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        var request = StackFixture.Payment();
        var (trace, caller) = await PayAsync(request);

        string[] expected = [.. requestPath, .. BackendSteps, .. replyPath];
        var spans = await OtlpReceiver.WaitAsync(
            () => stack.Telemetry.SpansOf(trace),
            found => expected.All(name => found.Exists(s => s.Span.Name == name))
                && found.Count(s => s.Source == "Npgsql") >= 2,
            found => "missing: " + string.Join(", ", expected.Except(found.Select(s => s.Span.Name))) + "; received:\n"
                + SpanTree.Draw(found));
        TestContext.Current.TestOutputHelper?.WriteLine(SpanTree.Draw(spans));

        // The parent of the first span is the caller's span, and that of every other span is a span of the trace.
        Assert.Equal(requestPath[0], Assert.Single(spans, s => s.ParentId == caller).Span.Name);
        var ids = spans.Select(s => s.Id).ToHashSet();
        Assert.All(spans, span =>
            Assert.True(span.ParentId == caller || ids.Contains(span.ParentId), span.Span.Name + " has no parent"));
        foreach (var (parent, child) in requestPath.Zip(requestPath.Skip(1)))
        {
            Assert.Equal(parent, ParentOf(child, spans));
        }
        Assert.All(BackendSteps, name => Assert.Equal(requestPath[^1], ParentOf(name, spans)));
        // The queries for receipts and the inserts of events are within their steps.
        Assert.Contains(spans, s => s.Source == "Npgsql" && ParentOf(s, spans) == "receipts");
        Assert.Contains(spans, s => s.Source == "Npgsql" && ParentOf(s, spans) == "record");
        var server = spans.Single(s => s.ParentId == caller);
        Assert.Equal("billing.v1.BillingService/MakePayment", server.Tag("rpc.method"));
        Assert.Equal("OK", server.Tag("rpc.response.status_code"));
    }

    [Fact]
    public async Task The_stored_event_has_the_trace_id()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        var traced = StackFixture.Payment();
        var (trace, _) = await PayAsync(traced);

        Assert.Contains($"\"TraceId\": \"{trace}\"", await StoredAsync(traced.AccountId), StringComparison.Ordinal);
    }

    // Its caller does not sample it: the settings of these stacks trace every call, whatever its caller says.
    protected async Task<(string Trace, string Caller)> PayAsync(V1.MakePaymentRequest request)
    {
        var trace = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(16));
        var caller = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(8));
        await stack.Proxy().MakePaymentAsync(
            request, new Metadata { { "traceparent", $"00-{trace}-{caller}-00" } });
        return (trace, caller);
    }

    private async Task<string> StoredAsync(string account)
    {
        await using var database = NpgsqlDataSource.Create(stack.ConnectionString);
        await using var read = database.CreateCommand(
            "select data::text from billing.mt_events where stream_id like '%/' || $1");
        read.Parameters.AddWithValue(account);
        return (string)(await read.ExecuteScalarAsync())!;
    }

    // The client's and the server's span of a call may have the same name; the client's starts first.
    private static string? ParentOf(string name, List<ReceivedSpan> spans) =>
        ParentOf(spans.Where(s => s.Span.Name == name).MinBy(s => s.Span.StartTimeUnixNano)!, spans);

    private static string? ParentOf(ReceivedSpan span, List<ReceivedSpan> spans) =>
        spans.Find(s => s.Id == span.ParentId)?.Span.Name;
}

/// <summary>Formats a trace as an indented text.</summary>
internal static class SpanTree
{
    public static string Draw(List<ReceivedSpan> spans)
    {
        var ids = spans.Select(s => s.Id).ToHashSet();
        var start = spans.Count == 0 ? 0 : spans.Min(s => s.Span.StartTimeUnixNano);
        return string.Join(
            '\n', spans.Where(s => !ids.Contains(s.ParentId)).SelectMany(root => Draw(root, spans, start, 0)));
    }

    private static IEnumerable<string> Draw(ReceivedSpan span, List<ReceivedSpan> spans, ulong start, int depth) =>
        spans.Where(s => s.ParentId == span.Id).OrderBy(s => s.Span.StartTimeUnixNano)
            .SelectMany(child => Draw(child, spans, start, depth + 1))
            .Prepend(string.Create(
                CultureInfo.InvariantCulture,
                $"{new string(' ', 2 * depth) + span.Span.Name,-46} {span.Service,-16} "
                    + $"{(span.Span.StartTimeUnixNano - start) / 1e6,8:0.00} ms {span.Milliseconds,8:0.00} ms"));
}

[Collection(OverKafka.Name)]
public sealed class KafkaTraces(KafkaStack stack) : PaymentTraces(
    stack,
    ["billing.v1.BillingService/MakePayment", "send billing.payments.visa", "process billing.payments.visa"],
    ["send billing.events", "send billing.replies.{proxy}", "process billing.replies.{proxy}"])
{
    [Fact]
    public async Task Spans_have_the_tags_of_the_messaging_conventions()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        var (trace, _) = await PayAsync(StackFixture.Payment());

        var process = (await OtlpReceiver.WaitAsync(
            () => stack.Telemetry.SpansOf(trace).Where(s => s.Span.Name == "process billing.payments.visa").ToList(),
            found => found.Count > 0, _ => "no such span")).Single();

        Assert.Equal("kafka", process.Tag("messaging.system.name"));
        Assert.Equal("process", process.Tag("messaging.operation.type"));
        Assert.Equal("billing.payments.visa", process.Tag("messaging.destination.name"));
        Assert.Matches("^[0-9]+$", process.Tag("kafka.offset"));
        Assert.Equal("billing-backend", process.Service);
    }

    [Fact]
    public async Task Metrics_and_logs_of_every_kind_of_service_are_exported_over_OTLP()
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        await PayAsync(StackFixture.Payment());

        await OtlpReceiver.WaitAsync(
            () => stack.Telemetry.Units,
            units => units.GetValueOrDefault(("billing-proxy", "rpc.server.call.duration")) == "s"
                && units.GetValueOrDefault(("billing-backend", "billing.batch.size")) == "{command}",
            units => string.Join(", ", units.Keys));
        await OtlpReceiver.WaitAsync(
            () => stack.Telemetry.LogLines, lines => lines.Any(
                l => l.Service == "billing-backend" && l.Text.StartsWith("Consuming", StringComparison.Ordinal)),
            lines => string.Join('\n', lines));
    }
}

[Collection(InOneProcess.Name)]
public sealed class EmbeddedTraces(EmbeddedStack stack)
    : PaymentTraces(stack, ["billing.v1.BillingService/MakePayment", "process"], []);

[Collection(OverDirectCalls.Name)]
public sealed class DirectGrpcTraces(DirectGrpcStack stack) : PaymentTraces(
    stack,
    [
        "billing.v1.BillingService/MakePayment", "billing.wire.v1.Backend/Execute", "POST",
        "POST /billing.wire.v1.Backend/Execute", "process",
    ],
    []);

[Collection(OverDirectCalls.Name)]
public sealed class DirectRpcxTraces(DirectRpcxStack stack) : PaymentTraces(
    stack, ["billing.v1.BillingService/MakePayment", Billing.Hosting.Telemetry.Tracing.ExecuteSpan, "process"], []);
