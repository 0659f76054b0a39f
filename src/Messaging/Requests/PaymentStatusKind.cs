using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

/// <summary>The question how a payment was decided. It goes to the write side, so that it is processed after the payment.</summary>
public sealed class PaymentStatusKind : RequestKind<PaymentStatusRequest, PaymentStatus>
{
    /// <inheritdoc/>
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.PaymentStatus;

    /// <inheritdoc/>
    public override bool IsWrite => true;

    /// <inheritdoc/>
    public override FieldViolation? Check(PaymentStatusRequest request) => FieldRules.Check(request.Payment);

    /// <inheritdoc/>
    public override PaymentStatusRequest KnownFields(PaymentStatusRequest request) => new()
    {
        Payment = RequestKinds.Payment.KnownFields(request.Payment),
        DeadlineUnixUs = request.DeadlineUnixUs,
    };

    /// <inheritdoc/>
    public override (PaymentType Type, string Id) AccountOf(PaymentStatusRequest request) => (request.Payment.PaymentType, request.Payment.AccountId);

    /// <inheritdoc/>
    public override string? TransactionIdOf(PaymentStatusRequest request) => request.Payment.TransactionId;

    /// <inheritdoc/>
    public override PaymentStatus? AnswerIn(Reply reply) => reply.PaymentStatus;

    internal override string? Refusal(Command command) =>
        command.PaymentStatus.Payment is null ? "payment_status.payment is missing" : base.Refusal(command);

    /// <inheritdoc/>
    protected override string TransactionIdField => "payment_status.payment.transaction_id";

    /// <inheritdoc/>
    protected override PaymentStatusRequest RequestIn(Command command) => command.PaymentStatus;

    /// <inheritdoc/>
    protected override void Write(Command command, PaymentStatusRequest request) => command.PaymentStatus = request;
}
