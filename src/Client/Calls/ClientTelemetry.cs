using System.Diagnostics;
using System.Diagnostics.Metrics;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Metrics and traces of a client, under the name <c>Billing.Client</c>; names follow OpenTelemetry's
/// conventions. Without listeners their cost is negligible.</summary>
internal sealed class ClientTelemetry : IDisposable
{
    public const string Name = "Billing.Client";

    private static readonly ActivitySource Activities = new(Name);

    // The bucket boundaries that OpenTelemetry recommends for durations in seconds.
    private static readonly InstrumentAdvice<double> Durations = new()
    {
        HistogramBucketBoundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    };

    private readonly TimeProvider _time;
    private readonly Meter _meter = new(Name);
    private readonly Histogram<double> _duration;
    private readonly Counter<long> _retries;
    private readonly Counter<long> _refused;
    private long _retried;

    public ClientTelemetry(TimeProvider time)
    {
        _time = time;
        _duration = _meter.CreateHistogram(
            "rpc.client.call.duration", "s", "Duration of calls, including all their retries.", null, Durations);
        _retries = _meter.CreateCounter<long>(
            "billing.client.retries", "{retry}", "Number of retries, of calls and of payments on streams.");
        _refused = _meter.CreateCounter<long>(
            "billing.client.retries.refused", "{retry}", "Number of retries refused for lack of retry budget.");
    }

    public long Retries => Interlocked.Read(ref _retried);

    public void Observe(Func<IReadOnlyList<Proxy>> proxies) => _meter.CreateObservableGauge(
        "billing.client.circuit.open",
        () => proxies().Select(proxy => new Measurement<int>(
            proxy.Circuit.IsOpen ? 1 : 0, new("server.address", proxy.Host), new("server.port", proxy.Port))),
        null, "State of a proxy's circuit breaker: 1 while it is open, otherwise 0.");

    public Measured Begin(string method) => new(
        this, method,
        Activities.HasListeners() ? Activities.StartActivity(method, ActivityKind.Client) : null,
        _duration.Enabled ? _time.GetTimestamp() : 0);

    public void Retried(string method)
    {
        Interlocked.Increment(ref _retried);
        _retries.Add(1, new KeyValuePair<string, object?>("rpc.method", method));
    }

    public void RetryRefused() => _refused.Add(1);

    public void Dispose() => _meter.Dispose();

    /// <summary>A call that is being measured.</summary>
    internal readonly struct Measured(ClientTelemetry telemetry, string method, Activity? activity, long start)
        : IDisposable
    {
        /// <param name="failure">Null if the call was answered.</param>
        public void Ended(Exception? failure)
        {
            if (start == 0 && activity is null)
            {
                return;
            }
            var status = failure switch
            {
                null => "OK",
                RpcException e => Named(e.StatusCode),
                OperationCanceledException => "CANCELLED",
                _ => null,
            };
            var tags = new TagList { { "rpc.system.name", "grpc" }, { "rpc.method", method } };
            if (status is not null)
            {
                tags.Add("rpc.response.status_code", status);
            }
            if (failure is not null)
            {
                tags.Add("error.type", status ?? failure.GetType().FullName);
                activity?.SetStatus(
                    ActivityStatusCode.Error, failure is RpcException rpc ? rpc.Status.Detail : failure.Message);
            }
            if (start != 0)
            {
                telemetry._duration.Record(telemetry._time.GetElapsedTime(start).TotalSeconds, tags);
            }
            if (activity is { IsAllDataRequested: true })
            {
                foreach (var (name, value) in tags)
                {
                    activity.SetTag(name, value);
                }
            }
        }

        public void Dispose() => activity?.Dispose();

        // As gRPC spells them in its specification: DEADLINE_EXCEEDED.
        private static string Named(StatusCode status) => string.Concat(
            status.ToString().Select((c, i) =>
                i > 0 && char.IsUpper(c) && status != StatusCode.OK ? $"_{c}" : char.ToUpperInvariant(c).ToString()));
    }
}
