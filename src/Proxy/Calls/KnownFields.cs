using Billing.V1;

namespace Billing.Proxy.Calls;

/// <summary>Requests as they are published: with the fields that the contract has, and no others. What a caller adds beside
/// them would otherwise travel along, and be held and stored by everything behind the proxy.</summary>
internal static class KnownFields
{
    /// <summary>A payment that was checked.</summary>
    public static MakePaymentRequest Of(MakePaymentRequest request) => new()
    {
        TransactionId = request.TransactionId,
        AccountId = request.AccountId,
        PaymentType = request.PaymentType,
        Amount = Of(request.Amount),
    };

    /// <summary>A balance check that was checked.</summary>
    public static CheckBalanceRequest Of(CheckBalanceRequest request) => new()
    {
        AccountId = request.AccountId,
        PaymentType = request.PaymentType,
        MinVersion = request.MinVersion,
    };

    /// <summary>A change of a limit that was checked.</summary>
    public static SetCreditLimitRequest Of(SetCreditLimitRequest request) => new()
    {
        TransactionId = request.TransactionId,
        AccountId = request.AccountId,
        PaymentType = request.PaymentType,
        Limit = Of(request.Limit),
    };

    private static Money Of(Money money) => new() { CurrencyCode = money.CurrencyCode, Units = money.Units, Nanos = money.Nanos };
}
