using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.Metrics;
using Billing.Client;
using Grpc.Core;

namespace Billing.UnitTests.Client;

/// <summary>Metrics and traces, distinguished from those of other tests by the proxy's port and the trace id.</summary>
public sealed class TelemetryTests
{
    private static readonly Payment Five = new(new CardAccount(CardNetwork.Visa, "a"), new Amount(5, "USD"));

    [Fact]
    public async Task A_call_is_a_span_that_the_proxy_continues()
    {
        await using var proxy = await ScriptedProxy.StartAsync(ScriptedProxy.Failure(StatusCode.Unavailable));
        using var client = Client(proxy);
        using var caller = new Activity("test").Start();
        var ended = new ConcurrentQueue<Activity>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == BillingClient.TelemetryName,
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = ended.Enqueue,
        };
        ActivitySource.AddActivityListener(listener);

        await client.PayAsync(Five);

        var span = Assert.Single(ended, activity => activity.TraceId == caller.TraceId);
        Assert.Equal(
            ("billing.v1.BillingService/MakePayment", ActivityKind.Client, caller.SpanId),
            (span.DisplayName, span.Kind, span.ParentSpanId));
        Assert.Equal("OK", span.GetTagItem("rpc.response.status_code"));
        Assert.All(
            proxy.HeadersOf("traceparent"),
            header => Assert.Contains(caller.TraceId.ToHexString(), header, StringComparison.Ordinal));
        Assert.Equal(2, proxy.HeadersOf("traceparent").Count());
    }

    [Fact]
    public async Task Calls_are_measured_with_their_status_and_open_circuits_are_reported()
    {
        await using var proxy = await ScriptedProxy.StartAsync(
            [
                .. Enumerable.Range(0, 2).Select(_ => ScriptedProxy.Failure(StatusCode.Unavailable)),
                ScriptedProxy.Failure(StatusCode.ResourceExhausted),
            ]);
        using var client = Client(proxy, retriesMax: 0);
        await using var other = await ScriptedProxy.StartAsync();
        using var admin = new BillingAdminClient(Options(other, retriesMax: 0));
        var ends = new ConcurrentQueue<string>();
        var open = new ConcurrentQueue<int>();
        using var listener = new MeterListener { InstrumentPublished = (instrument, self) => Listen(instrument, self) };
        listener.SetMeasurementEventCallback<double>((_, seconds, tags, _) => ends.Enqueue(
            $"{Tag(tags, "rpc.method")} {Tag(tags, "rpc.response.status_code")} {Tag(tags, "error.type")} "
            + $"{seconds > 0}"));
        listener.SetMeasurementEventCallback<int>((_, state, tags, _) =>
        {
            if (Tag(tags, "server.port") is int port && port == new Uri(proxy.Address).Port)
            {
                open.Enqueue(state);
            }
        });
        listener.Start();
        listener.RecordObservableInstruments();

        await admin.SetCreditLimitAsync(new CreditLimitChange(Five.Account, new Amount(1, "USD")));
        for (var call = 0; call < 4; call++)
        {
            await client.PayAsync(Five);
        }
        listener.RecordObservableInstruments();

        Assert.Contains("billing.v1.BillingAdminService/SetCreditLimit UNIMPLEMENTED UNIMPLEMENTED True", ends);
        Assert.Contains("billing.v1.BillingService/MakePayment UNAVAILABLE UNAVAILABLE True", ends);
        Assert.Contains("billing.v1.BillingService/MakePayment RESOURCE_EXHAUSTED RESOURCE_EXHAUSTED True", ends);
        Assert.Contains("billing.v1.BillingService/MakePayment OK  True", ends);
        Assert.Equal([0, 1], open);
    }

    private static void Listen(Instrument instrument, MeterListener self)
    {
        if (instrument.Meter.Name == BillingClient.TelemetryName)
        {
            self.EnableMeasurementEvents(instrument);
        }
    }

    private static object? Tag(ReadOnlySpan<KeyValuePair<string, object?>> tags, string name)
    {
        foreach (var tag in tags)
        {
            if (tag.Key == name)
            {
                return tag.Value;
            }
        }
        return null;
    }

    private static BillingClient Client(ScriptedProxy proxy, int retriesMax = 1) => new(Options(proxy, retriesMax));

    private static BillingClientOptions Options(ScriptedProxy proxy, int retriesMax) => new()
    {
        Proxies = { proxy.Address },
        RetriesMax = retriesMax,
        RetryDelay = TimeSpan.Zero,
        CircuitCallsMin = 2,
    };
}
