using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Backends.Writes;

/// <summary>The question how a payment was decided.</summary>
internal sealed class PaymentStatusWrite : WriteKind
{
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.PaymentStatus;

    public override bool IsStatusQuery => true;

    public override PaymentNotes? NotesOf(Command command) => command.PaymentStatus.Payment.Notes;

    public override AccountCommand ToDomain(Command command, RequestTimes? times, string? traceId) =>
        PaymentWrite.ToDomain(command, command.PaymentStatus.Payment, times, traceId);

    protected override bool AsksFor(Command command, Event recorded) =>
        PaymentWrite.IsAnsweredBy(command.PaymentStatus.Payment, recorded);

    public override void Answer(Reply reply, Event recorded) =>
        reply.PaymentStatus = new PaymentStatus { Payment = PaymentWrite.ToResponse(recorded) };

    /// <inheritdoc/>
    /// <remarks>Once it is certain that there will be no event, that is the answer to the question.</remarks>
    public override void Answer(Reply reply, Error refusal)
    {
        if (refusal.Reason == ErrorReasons.NoAnswerInTime)
        {
            reply.Error = refusal;
        }
        else
        {
            reply.PaymentStatus = new PaymentStatus { Error = refusal };
        }
    }
}
