using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

/// <summary>A payment.</summary>
public sealed class PaymentKind : RequestKind<MakePaymentRequest, MakePaymentResponse>
{
    /// <inheritdoc/>
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Payment;

    /// <inheritdoc/>
    public override bool IsWrite => true;

    /// <inheritdoc/>
    public override FieldViolation? Check(MakePaymentRequest request) => FieldRules.Check(request);

    /// <inheritdoc/>
    public override MakePaymentRequest KnownFields(MakePaymentRequest request) => new()
    {
        TransactionId = request.TransactionId,
        AccountId = request.AccountId,
        PaymentType = request.PaymentType,
        Amount = Known(request.Amount),
    };

    /// <inheritdoc/>
    public override (PaymentType Type, string Id) AccountOf(MakePaymentRequest request) => (request.PaymentType, request.AccountId);

    /// <inheritdoc/>
    public override string? TransactionIdOf(MakePaymentRequest request) => request.TransactionId;

    /// <inheritdoc/>
    public override MakePaymentResponse? AnswerIn(Reply reply) => reply.Payment;

    /// <inheritdoc/>
    protected override string TransactionIdField => "payment.transaction_id";

    /// <inheritdoc/>
    protected override MakePaymentRequest RequestIn(Command command) => command.Payment;

    /// <inheritdoc/>
    protected override void Write(Command command, MakePaymentRequest request) => command.Payment = request;
}
