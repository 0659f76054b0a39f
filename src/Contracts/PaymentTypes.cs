using Billing.V1;

namespace Billing.Contracts;

/// <summary>The card networks that there are.</summary>
public static class PaymentTypes
{
    /// <summary>The four payment types that an account may have.</summary>
    public static IReadOnlyList<PaymentType> All { get; } =
        [PaymentType.Visa, PaymentType.Mastercard, PaymentType.Discover, PaymentType.Amex];
}
