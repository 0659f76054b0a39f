using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

/// <summary>A change of a credit limit.</summary>
public sealed class CreditLimitKind : RequestKind<SetCreditLimitRequest, SetCreditLimitResponse>
{
    /// <inheritdoc/>
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.CreditLimit;

    /// <inheritdoc/>
    public override bool IsWrite => true;

    /// <inheritdoc/>
    public override FieldViolation? Check(SetCreditLimitRequest request) => FieldRules.Check(request);

    /// <inheritdoc/>
    public override SetCreditLimitRequest KnownFields(SetCreditLimitRequest request) => new()
    {
        TransactionId = request.TransactionId,
        AccountId = request.AccountId,
        PaymentType = request.PaymentType,
        Limit = Known(request.Limit),
    };

    /// <inheritdoc/>
    public override (PaymentType Type, string Id) AccountOf(SetCreditLimitRequest request) => (request.PaymentType, request.AccountId);

    /// <inheritdoc/>
    public override string? TransactionIdOf(SetCreditLimitRequest request) => request.TransactionId;

    /// <inheritdoc/>
    public override SetCreditLimitResponse? AnswerIn(Reply reply) => reply.CreditLimit;

    /// <inheritdoc/>
    protected override string TransactionIdField => "credit_limit.transaction_id";

    /// <inheritdoc/>
    protected override SetCreditLimitRequest RequestIn(Command command) => command.CreditLimit;

    /// <inheritdoc/>
    protected override void Write(Command command, SetCreditLimitRequest request) => command.CreditLimit = request;
}
