using Billing.Contracts;
using Billing.Messaging;
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

    /// <summary>Sends a command and counts its answer.</summary>
    public async Task<Reply> SendAsync(IRequestTransport transport, Command command)
    {
        var own = command.Payment is null ? null : Own.Value;
        if (own is not null)
        {
            command.Timing ??= new Timing { SentUnixUs = command.ReceivedUnixUs };
        }
        else if (command.Payment is not null && transport.Description.TimesSteps)
        {
            Payments.Sample(command);
        }
        var reply = await transport.SendAsync(command);
        if (reply.ResultCase != Reply.ResultOneofCase.Error)
        {
            Calls.Answered();
        }
        if (command is { Payment: not null, Timing: not null })
        {
            var payment = TimedPayment.Of(command, reply, TimedCall.Times(command, reply, _time.Microseconds()), own is not null);
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
