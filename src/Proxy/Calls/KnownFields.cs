using Billing.V1;

namespace Billing.Proxy.Calls;

/// <summary>Copies requests with the fields of the contract and no others. Unknown fields that a caller adds would otherwise be
/// published, and be kept and stored by everything behind the proxy.</summary>
internal static class KnownFields
{
    /// <summary>Copies a payment that was checked.</summary>
    public static MakePaymentRequest Of(MakePaymentRequest request) => new()
    {
        TransactionId = request.TransactionId,
        AccountId = request.AccountId,
        PaymentType = request.PaymentType,
        Amount = Of(request.Amount),
    };

    /// <summary>Copies a balance check that was checked.</summary>
    public static CheckBalanceRequest Of(CheckBalanceRequest request) => new()
    {
        AccountId = request.AccountId,
        PaymentType = request.PaymentType,
        MinVersion = request.MinVersion,
    };

    /// <summary>Copies a change of a credit limit that was checked.</summary>
    public static SetCreditLimitRequest Of(SetCreditLimitRequest request) => new()
    {
        TransactionId = request.TransactionId,
        AccountId = request.AccountId,
        PaymentType = request.PaymentType,
        Limit = Of(request.Limit),
    };

    private static Money Of(Money money) => new() { CurrencyCode = money.CurrencyCode, Units = money.Units, Nanos = money.Nanos };
}
