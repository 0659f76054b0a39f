using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

/// <summary>What is recorded for the live page. While nobody watches there is no record, and a call costs one look for it.
/// </summary>
public sealed class LiveWatch(IOptions<LiveOptions> options, TimeProvider time)
{
    private volatile LiveRecord? _record;

    /// <summary>The record; null while nobody watches.</summary>
    internal LiveRecord? Record => _record;

    /// <summary>Begins a record, where there is none.</summary>
    internal LiveRecord Begin()
    {
        if (_record is { } begun)
        {
            return begun;
        }
        var record = new LiveRecord(options.Value.SamplesPerSecond, time);
        return Interlocked.CompareExchange(ref _record, record, null) ?? record;
    }

    /// <summary>Forgets the record.</summary>
    internal void End() => _record = null;
}

/// <summary>What has happened since somebody began to watch. Safe from any thread.</summary>
internal sealed class LiveRecord
{
    // Names the payment of this flow of control as the page's own, on its way to where commands are sent.
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

    /// <summary>When the record begins.</summary>
    public DateTimeOffset Since { get; }

    /// <summary>The calls of the last seconds.</summary>
    public CallSeconds Calls { get; }

    /// <summary>What failed lately.</summary>
    public FailureLog Failures { get; }

    /// <summary>Steps of the last payments.</summary>
    public TimedPayments Payments { get; }

    /// <summary>Has the payment that this flow of control sends next timed.</summary>
    public static OwnPayment TimeNext()
    {
        var own = new OwnPayment();
        Own.Value = own;
        return own;
    }

    /// <summary>Sends a command and counts its answer.</summary>
    public async Task<Reply> SendAsync(IRequestTransport transport, Command command, CancellationToken cancellationToken)
    {
        var own = command.Payment is null ? null : Own.Value;
        if (own is not null)
        {
            command.Timing ??= new Timing { SentUnixUs = command.ReceivedUnixUs };
        }
        else if (command.Payment is not null && transport is not Messaging.Direct.DirectTransport)
        {
            Payments.Sample(command);
        }
        var reply = await transport.SendAsync(command, cancellationToken);
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

/// <summary>A payment that was made on the page.</summary>
internal sealed class OwnPayment
{
    /// <summary>Its steps, when it is answered.</summary>
    public TimedPayment? Steps { get; set; }
}
