using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Wire.V1;

namespace Billing.Backends.Writes;

/// <summary>The question what has become of a payment that was queued.</summary>
internal sealed class PaymentStatusWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.PaymentStatus;

    public override bool IsStatusQuery => true;

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) =>
        throw new NotSupportedException("A question changes no account.");

    public override bool IsAnsweredBy(Command command, Event recorded) =>
        AsksFor(command, recorded);

    protected override bool AsksFor(Command command, Event recorded) => PaymentWrite.AmountOf(recorded) is { } amount
        && command.PaymentStatus.Fingerprint.Span.SequenceEqual(PaymentFingerprint.Of(amount, recorded.Notes));

    public override void Answer(Reply reply, Event recorded, bool isReplay) =>
        reply.PaymentStatus = new PaymentStatus { Payment = PaymentWrite.ToResponse(recorded) };

    /// <inheritdoc/>
    /// <remarks>Once it is certain that there will be no event, that is the answer to the question.</remarks>
    public override void Answer(Reply reply, Error refusal)
    {
        if (refusal.Reason == ErrorReasons.CommandExpired)
        {
            reply.PaymentStatus = new PaymentStatus { Error = refusal };
        }
        else
        {
            reply.Error = refusal;
        }
    }
}
