using System.Diagnostics;
using System.Diagnostics.Metrics;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Proxy;
using Billing.Proxy.Failures;
using Billing.Proxy.Telemetry;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Testing;
using Grpc.Core;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.UnitTests.Telemetry;

/// <summary>What metrics and spans of a proxy count as its errors.</summary>
public sealed class CallMetricsTests
{
    [Theory]
    [InlineData(StatusCode.InvalidArgument, ErrorReasons.InvalidField, null)]
    [InlineData(StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused, null)]
    [InlineData(StatusCode.Unauthenticated, ErrorReasons.TokenMissing, null)]
    [InlineData(StatusCode.PermissionDenied, ErrorReasons.ScopeMissing, null)]
    [InlineData(StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached, null)]
    [InlineData(StatusCode.Cancelled, "", null)]
    [InlineData(StatusCode.Unavailable, ErrorReasons.StreamIdle, null)]
    [InlineData(StatusCode.Unavailable, ErrorReasons.StreamTooOld, null)]
    [InlineData(StatusCode.Unavailable, ErrorReasons.EventStoreUnavailable, "UNAVAILABLE")]
    [InlineData(StatusCode.DeadlineExceeded, ErrorReasons.NoAnswerInTime, "DEADLINE_EXCEEDED")]
    [InlineData(StatusCode.Internal, ErrorReasons.ProcessingFailed, "INTERNAL")]
    [InlineData(StatusCode.Unimplemented, ErrorReasons.NotServedHere, "UNIMPLEMENTED")]
    public async Task Only_what_the_platform_caused_is_an_error_of_a_call(
        StatusCode status, string reason, string? error)
    {
        var (span, tags) = await CallAsync(http =>
        {
            GrpcFailure.WriteTrailers(http.Response.Headers, new Failure(status, reason, "why"));
            return Task.CompletedTask;
        });

        Assert.Equal(error, tags.GetValueOrDefault("error.type"));
        Assert.Equal(error, span.GetTagItem("error.type"));
        Assert.Equal(error is null ? ActivityStatusCode.Unset : ActivityStatusCode.Error, span.Status);
        Assert.Equal(Errors.NameOf(status), tags["rpc.response.status_code"]);
        Assert.Equal(Errors.NameOf(status), span.GetTagItem("rpc.response.status_code"));
    }

    [Fact]
    public async Task A_call_that_succeeds_is_no_error_and_one_that_throws_has_the_name_of_the_exception()
    {
        var (_, succeeded) = await CallAsync(http =>
        {
            http.Response.Headers["grpc-status"] = "0";
            return Task.CompletedTask;
        });
        var (span, failed) = await CallAsync(_ => throw new InvalidOperationException("planted"));

        Assert.Equal("OK", succeeded["rpc.response.status_code"]);
        Assert.False(succeeded.ContainsKey("error.type"));
        Assert.Equal("UNKNOWN", failed["rpc.response.status_code"]);
        Assert.Equal("System.InvalidOperationException", failed["error.type"]);
        Assert.Equal(ActivityStatusCode.Error, span.Status);
    }

    [Fact]
    public async Task A_call_whose_caller_left_is_no_error_even_if_it_throws()
    {
        var (span, tags) = await CallAsync(http =>
        {
            http.RequestAborted = new CancellationToken(canceled: true);
            throw new OperationCanceledException();
        });

        Assert.Equal("CANCELLED", tags["rpc.response.status_code"]);
        Assert.False(tags.ContainsKey("error.type"));
        Assert.Equal(ActivityStatusCode.Unset, span.Status);
    }

    [Fact]
    public async Task Payments_on_streams_are_counted_by_outcome_with_the_status_of_those_that_the_platform_failed()
    {
        var counted = new List<Dictionary<string, object?>>();
        using var listener = Listener(instrument => instrument.Name == "billing.stream.payments", counted);
        var backend = new FakeBackend();
        var payments = Enumerable.Range(0, 3).Select(i => Samples.Payment("acct-" + i)).ToList();
        payments.ForEach(payment => payment.TransactionId = Guid.NewGuid().ToString());
        payments[1].AccountId = "a/b";
        backend.Answer = command => Task.FromResult(command.TransactionId == payments[2].TransactionId
            ? Replies.Error(0, StatusCode.DataLoss, ErrorReasons.ProcessingFailed, "planted")
            : FakeBackend.Accepted(command));
        await using var proxy = await ProxyHost.StartAsync(backend);
        using var stream = proxy.Client.MakePayments();

        foreach (var payment in payments)
        {
            await stream.RequestStream.WriteAsync(payment);
        }
        await stream.RequestStream.CompleteAsync();
        while (await stream.ResponseStream.MoveNext(CancellationToken.None))
        {
        }

        lock (counted)
        {
            // All streams of this process count; no other test has this status.
            Assert.Contains(counted, tags => Is(tags, "accepted", null));
            Assert.Contains(counted, tags => Is(tags, "failed", null));
            Assert.Single(counted, tags => Is(tags, "failed", "DATA_LOSS"));
        }
    }

    private static bool Is(Dictionary<string, object?> tags, string outcome, string? error) =>
        Equals(tags["billing.outcome"], outcome) && Equals(tags.GetValueOrDefault("error.type"), error);

    /// <summary>The span and the tags of the metric of one gRPC call.</summary>
    private static async Task<(Activity Span, Dictionary<string, object?> Tags)> CallAsync(RequestDelegate call)
    {
        using var services = new ServiceCollection().AddMetrics().BuildServiceProvider();
        var meters = services.GetRequiredService<IMeterFactory>();
        using var admission = Admissions.With(new ProxyOptions());
        var measured = new List<Dictionary<string, object?>>();
        using var listener = Listener(
            instrument => ReferenceEquals(instrument.Meter.Scope, meters)
                && instrument.Name == "rpc.server.call.duration",
            measured);
        using var metrics = new CallMetrics(meters, admission, Admissions.Memory);
        var http = new DefaultHttpContext();
        http.SetEndpoint(new Endpoint(null, new EndpointMetadataCollection(new GrpcEndpoint()), null));
        using var span = new Activity("call").Start();
        try
        {
            await metrics.InvokeAsync(http, call);
        }
        catch (Exception e) when (e is InvalidOperationException or OperationCanceledException)
        {
            // As planted by the test.
        }
        return (span, Assert.Single(measured));
    }

    private static MeterListener Listener(Func<Instrument, bool> isWanted, List<Dictionary<string, object?>> measured)
    {
        var listener = new MeterListener
        {
            InstrumentPublished = (instrument, listening) =>
            {
                if (isWanted(instrument))
                {
                    listening.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<double>((_, _, tags, _) => Add(measured, tags));
        listener.SetMeasurementEventCallback<long>((_, _, tags, _) => Add(measured, tags));
        listener.Start();
        return listener;
    }

    private static void Add(
        List<Dictionary<string, object?>> measured, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        var copy = tags.ToArray().ToDictionary(StringComparer.Ordinal);
        lock (measured)
        {
            measured.Add(copy);
        }
    }
}
