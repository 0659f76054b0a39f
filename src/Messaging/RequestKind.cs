using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>The properties of each kind of request that a command can contain, in one table. The processing of a request is
/// defined by the write side (<c>WireCommand</c>) or the read side (<c>BalanceProcessor</c>).</summary>
/// <param name="IsWrite">Whether it goes to the write side. A query for the status of a payment does too, so that it is
/// processed after that payment.</param>
/// <param name="Account">Returns the account of the request.</param>
/// <param name="Refusal">Returns why the request must not be processed, on any transport; null if it is valid.</param>
internal sealed record RequestKind(
    bool IsWrite, Func<Command, (PaymentType Type, string Id)> Account, Func<Command, string?> Refusal)
{
    private static readonly Dictionary<Command.RequestOneofCase, RequestKind> Kinds = new()
    {
        [Command.RequestOneofCase.Payment] = new(
            true, c => (c.Payment.PaymentType, c.Payment.AccountId),
            c => OtherId(c, c.Payment.TransactionId, "payment") ?? FieldRules.Check(c.Payment)?.ToString()),
        [Command.RequestOneofCase.CreditLimit] = new(
            true, c => (c.CreditLimit.PaymentType, c.CreditLimit.AccountId),
            c => OtherId(c, c.CreditLimit.TransactionId, "credit_limit") ?? FieldRules.Check(c.CreditLimit)?.ToString()),
        [Command.RequestOneofCase.PaymentStatus] = new(
            true, c => (c.PaymentStatus.Payment.PaymentType, c.PaymentStatus.Payment.AccountId),
            c => c.PaymentStatus.Payment is not { } payment
                ? "payment_status.payment is missing"
                : OtherId(c, payment.TransactionId, "payment_status.payment") ?? FieldRules.Check(payment)?.ToString()),
        [Command.RequestOneofCase.Balance] = new(
            false, c => (c.Balance.PaymentType, c.Balance.AccountId), c => FieldRules.Check(c.Balance)?.ToString()),
        [Command.RequestOneofCase.Statement] = new(
            false, c => (c.Statement.PaymentType, c.Statement.AccountId), c => StatementPageRules.Check(c.Statement)?.ToString()),
    };

    /// <summary>Returns the kind of a command's request; null if it contains none.</summary>
    public static RequestKind? Of(Command command) => Kinds.GetValueOrDefault(command.RequestCase);

    private static string? OtherId(Command command, string transactionId, string field) =>
        transactionId != command.TransactionId ? field + ".transaction_id is not the command's transaction_id" : null;
}
