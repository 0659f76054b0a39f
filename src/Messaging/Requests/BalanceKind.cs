using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

/// <summary>A balance check.</summary>
public sealed class BalanceKind : RequestKind<CheckBalanceRequest, CheckBalanceResponse>
{
    /// <inheritdoc/>
    public override Command.RequestOneofCase Field => Command.RequestOneofCase.Balance;

    /// <inheritdoc/>
    public override bool IsWrite => false;

    /// <inheritdoc/>
    public override FieldViolation? Check(CheckBalanceRequest request) => FieldRules.Check(request);

    /// <inheritdoc/>
    public override CheckBalanceRequest KnownFields(CheckBalanceRequest request) => new()
    {
        AccountId = request.AccountId,
        PaymentType = request.PaymentType,
        MinVersion = request.MinVersion,
    };

    /// <inheritdoc/>
    public override (PaymentType Type, string Id) AccountOf(CheckBalanceRequest request) => (request.PaymentType, request.AccountId);

    /// <inheritdoc/>
    public override CheckBalanceResponse? AnswerIn(Reply reply) => reply.Balance;

    /// <inheritdoc/>
    protected override CheckBalanceRequest RequestIn(Command command) => command.Balance;

    /// <inheritdoc/>
    protected override void Write(Command command, CheckBalanceRequest request) => command.Balance = request;
}
