using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

/// <summary>Holds what is recorded for the live page. While nobody watches there is no record, and a call costs one read of a
/// field.</summary>
public sealed class LiveWatch(IOptions<LiveOptions> options, TimeProvider time)
{
    private volatile LiveRecord? _record;

    /// <summary>The record; null while nobody watches.</summary>
    internal LiveRecord? Record => _record;

    /// <summary>Starts a record if there is none.</summary>
    internal LiveRecord Begin()
    {
        if (_record is { } begun)
        {
            return begun;
        }
        var record = new LiveRecord(options.Value.SamplesPerSecond, time);
        return Interlocked.CompareExchange(ref _record, record, null) ?? record;
    }

    /// <summary>Drops the record.</summary>
    internal void End() => _record = null;
}

/// <summary>What has happened since the record was started. Thread-safe.</summary>
internal sealed class LiveRecord
{
    // Marks the payment of this asynchronous flow as made on the page, from the request to where its command is sent.
    private static readonly AsyncLocal<OwnPayment?> Own = new();

    private readonly TimeProvider _time;

    public LiveRecord(int samplesPerSecond, TimeProvider time)
    {
        _time = time;
        Since = time.GetUtcNow();
        Calls = new CallSeconds(time);
        Failures = new FailureLog(time);
        Payments = new TimedPayments(samplesPerSecond, Calls);
    }

    /// <summary>When the record was started.</summary>
    public DateTimeOffset Since { get; }

    /// <summary>The calls of the last seconds.</summary>
    public CallSeconds Calls { get; }

    /// <summary>The recent failures.</summary>
    public FailureLog Failures { get; }

    /// <summary>The last timed payments.</summary>
    public TimedPayments Payments { get; }

    /// <summary>Requests timing for the next payment that this asynchronous flow sends.</summary>
    public static OwnPayment TimeNext()
    {
        var own = new OwnPayment();
        Own.Value = own;
        return own;
    }

    /// <summary>Sends a request and counts its answer.</summary>
    public async Task<Reply> SendAsync(IRequestTransport transport, Request request, Action? stored = null)
    {
        var isPayment = request.Kind == RequestKinds.Payment;
        var own = isPayment ? Own.Value : null;
        if (isPayment && request.SentUnixUs is null && (own is not null || (transport.Description.TimesSteps && Payments.TrySample())))
        {
            // When the client sent it is unknown: the time of receipt stands in for that.
            request = request with { SentUnixUs = request.ReceivedUnixUs };
        }
        var reply = await transport.SendAsync(request, stored);
        if (reply.ResultCase != Reply.ResultOneofCase.Error)
        {
            Calls.Answered();
        }
        if (isPayment && request.SentUnixUs is not null)
        {
            var payment = TimedPayment.Of(request, reply, TimedCall.Times(request, reply, _time.Microseconds()), own is not null);
            Payments.Add(payment);
            own?.Steps = payment;
        }
        return reply;
    }
}

/// <summary>A payment made on the page.</summary>
internal sealed class OwnPayment
{
    /// <summary>Its steps; null until it is answered.</summary>
    public TimedPayment? Steps { get; set; }
}
