using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

/// <summary>The kinds of requests.</summary>
public static class RequestKinds
{
    /// <summary>MakePayment.</summary>
    public static PaymentKind Payment { get; } = new();

    /// <summary>SetCreditLimit.</summary>
    public static CreditLimitKind CreditLimit { get; } = new();

    /// <summary>The question how a payment was decided.</summary>
    public static PaymentStatusKind PaymentStatus { get; } = new();

    /// <summary>CheckBalance.</summary>
    public static BalanceKind Balance { get; } = new();

    /// <summary>A page of GetStatement.</summary>
    public static StatementKind Statement { get; } = new();

    private static readonly Dictionary<Command.RequestOneofCase, RequestKind> ByField =
        new RequestKind[] { Payment, CreditLimit, PaymentStatus, Balance, Statement }.ToDictionary(kind => kind.Field);

    /// <summary>The kind of a command's request; null if it contains none.</summary>
    public static RequestKind? Of(Command command) => ByField.GetValueOrDefault(command.RequestCase);
}
