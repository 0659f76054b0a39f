using Billing.Contracts;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

/// <summary>Holds what is recorded for the live page. While nobody watches there is no record, and a call costs
/// one read of a field.</summary>
internal sealed class LiveWatch(IOptions<LiveOptions> options, TimeProvider time)
{
    private volatile LiveRecord? _record;

    public LiveRecord? Record => _record;

    /// <summary>Starts a record if there is none.</summary>
    public LiveRecord Begin()
    {
        if (_record is { } begun)
        {
            return begun;
        }
        var record = new LiveRecord(options.Value.SamplesPerSecond, time);
        return Interlocked.CompareExchange(ref _record, record, null) ?? record;
    }

    public void End() => _record = null;
}

/// <summary>A transport whose requests are recorded while somebody watches the live page.</summary>
internal sealed class LiveTransport(IRequestTransport transport, LiveWatch watch) : IRequestTransport
{
    public TransportDescription Description => transport.Description;

    public Task<Reply> SendAsync(Request request, Action<int>? stored = null) => watch.Record is { } record
        ? record.SendAsync(transport, request, stored)
        : transport.SendAsync(request, stored);
}

/// <summary>What has happened since the record was started. Thread-safe.</summary>
internal sealed class LiveRecord(int samplesPerSecond, TimeProvider time)
{
    // Marks the payment of this asynchronous flow as made on the page, from the request to where its command is sent.
    private static readonly AsyncLocal<OwnPayment?> Own = new();

    public TimeProvider Time => time;

    public DateTimeOffset Since { get; } = time.GetUtcNow();

    /// <summary>When somebody last watched: a timestamp of the clock.</summary>
    public long WatchedAt { get; set; } = time.GetTimestamp();

    public CallSeconds Calls { get; } = new(time);

    public FailureLog Failures { get; } = new(time);

    public TimedPayments Payments { get; } = new(samplesPerSecond, time);

    /// <summary>Requests timing for the next payment that this asynchronous flow sends.</summary>
    public static OwnPayment TimeNext() => Own.Value = new OwnPayment();

    /// <summary>Sends a request and counts its answer.</summary>
    public async Task<Reply> SendAsync(IRequestTransport transport, Request request, Action<int>? stored = null)
    {
        var isPayment = request.Kind == RequestKinds.Payment;
        var own = isPayment ? Own.Value : null;
        if (isPayment && request.SentUnixUs is null
            && (own is not null || (transport.Description.TimesSteps && Payments.TrySample())))
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
            var payment = TimedPayment.Of(
                request, reply, IncomingCall.TimesOf(request, reply, time.Microseconds()), own is not null);
            Payments.Add(payment);
            own?.Steps = payment;
        }
        return reply;
    }
}

/// <summary>A payment made on the page.</summary>
internal sealed class OwnPayment
{
    /// <summary>Null until it is answered.</summary>
    public TimedPayment? Steps { get; set; }
}
