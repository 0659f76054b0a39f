using System.Diagnostics.Metrics;

namespace Billing.Proxy.Live;

/// <summary>Collects the durations and failures of calls from existing meters: those of gRPC calls from the proxy's own meter,
/// those of REST calls from the web server's. Without a listener, these meters record nothing.</summary>
internal sealed class CallMeter : IDisposable
{
    /// <summary>The proxy's meter.</summary>
    public const string GrpcMeter = "Billing.Proxy";

    /// <summary>Its histogram of calls, in seconds.</summary>
    public const string GrpcDuration = "rpc.server.call.duration";

    private const string HttpMeter = "Microsoft.AspNetCore.Hosting";
    private const string HttpDuration = "http.server.request.duration";

    // The methods with a single answer: a stream's duration depends on its caller.
    private static readonly string[] OneAnswer =
    [
        .. V1.BillingReflection.Descriptor.Services.SelectMany(service => service.Methods)
            .Where(method => method is { IsClientStreaming: false, IsServerStreaming: false })
            .Select(method => $"{method.Service.Name}/{method.Name}"),
    ];

    private static readonly string[] RestRoutes = ["/v1/", "/live/payments"];

    private readonly CallSeconds _seconds;
    private readonly MeterListener _listener = new();

    /// <summary>Starts to listen.</summary>
    /// <param name="seconds">Where calls are counted.</param>
    /// <param name="meters">The factory of this host's meters; other hosts in the process have their own.</param>
    public CallMeter(CallSeconds seconds, IMeterFactory meters)
    {
        _seconds = seconds;
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Scope is null || ReferenceEquals(instrument.Meter.Scope, meters))
            {
                Listen(instrument, listener);
            }
        };
        _listener.SetMeasurementEventCallback<double>(Record);
        _listener.Start();
    }

    /// <inheritdoc/>
    public void Dispose() => _listener.Dispose();

    private static void Listen(Instrument instrument, MeterListener listener)
    {
        switch (instrument.Meter.Name, instrument.Name)
        {
            case (GrpcMeter, GrpcDuration):
                listener.EnableMeasurementEvents(instrument, (Func<ReadOnlySpan<KeyValuePair<string, object?>>, Outcome>)OfGrpc);
                break;
            case (HttpMeter, HttpDuration):
                listener.EnableMeasurementEvents(instrument, (Func<ReadOnlySpan<KeyValuePair<string, object?>>, Outcome>)OfRest);
                break;
            default:
                break;
        }
    }

    private static Outcome OfGrpc(ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        var method = Text(tags, "rpc.method");
        return Text(tags, "rpc.response.status_code") is { } status && status != "OK" ? Outcome.Failed
            : Array.Exists(OneAnswer, name => method?.EndsWith(name, StringComparison.Ordinal) == true) ? Outcome.Answered
            : Outcome.Other;
    }

    private static Outcome OfRest(ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        var route = Text(tags, "http.route");
        return !Array.Exists(RestRoutes, start => route?.StartsWith(start, StringComparison.Ordinal) == true) ? Outcome.Other
            : Value(tags, "http.response.status_code") is int and >= StatusCodes.Status400BadRequest ? Outcome.Failed
            : Outcome.Answered;
    }

    private static string? Text(ReadOnlySpan<KeyValuePair<string, object?>> tags, string name) => Value(tags, name) as string;

    private static object? Value(ReadOnlySpan<KeyValuePair<string, object?>> tags, string name)
    {
        foreach (var (key, value) in tags)
        {
            if (key == name)
            {
                return value;
            }
        }
        return null;
    }

    private void Record(Instrument instrument, double seconds, ReadOnlySpan<KeyValuePair<string, object?>> tags, object? state)
    {
        switch (((Func<ReadOnlySpan<KeyValuePair<string, object?>>, Outcome>)state!)(tags))
        {
            case Outcome.Answered:
                _seconds.Took(TimeSpan.FromSeconds(seconds));
                break;
            case Outcome.Failed:
                _seconds.Failed();
                break;
            default:
                break;
        }
    }

    private enum Outcome
    {
        Other,
        Answered,
        Failed,
    }
}
