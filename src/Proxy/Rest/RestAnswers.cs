using Billing.V1;
using Google.Protobuf.Reflection;
using Google.Protobuf.WellKnownTypes;

namespace Billing.Proxy.Rest;

/// <summary>Converts messages of the public API to JSON objects, and amounts of money back.</summary>
internal static class RestAnswers
{
    private static readonly EnumDescriptor Outcomes = Names("PaymentOutcome");
    private static readonly EnumDescriptor DeclineReasons = Names("DeclineReason");
    private static readonly EnumDescriptor PaymentTypes = Names("PaymentType");
    private static readonly EnumDescriptor EntryTypes = Names("StatementEntryType");

    public static Money? ToMoney(this MoneyJson? money) => money is null
        ? null
        : new Money { CurrencyCode = money.CurrencyCode ?? "", Units = money.Units, Nanos = money.Nanos };

    public static PaymentAnswer Of(MakePaymentResponse response) => new()
    {
        TransactionId = response.TransactionId,
        Outcome = Name(Outcomes, (int)response.Outcome),
        DeclineReason = NameOrNull(DeclineReasons, (int)response.DeclineReason),
        Message = NullIfEmpty(response.Message),
        Balance = Of(response.Balance),
        Version = response.Version,
    };

    public static PaymentStatusAnswer Of(string transactionId, Wire.V1.PaymentStatus status) => status.Payment is { } payment
        ? new PaymentStatusAnswer
        {
            TransactionId = transactionId,
            Status = Name(Outcomes, (int)payment.Outcome),
            DeclineReason = NameOrNull(DeclineReasons, (int)payment.DeclineReason),
            Message = NullIfEmpty(payment.Message),
            Balance = Of(payment.Balance),
            Version = payment.Version,
        }
        : new PaymentStatusAnswer
        {
            TransactionId = transactionId,
            Status = "FAILED",
            Message = NullIfEmpty(status.Error?.Message ?? ""),
            Reason = status.Error?.Reason ?? Contracts.ErrorReasons.ProcessingFailed,
        };

    public static BalanceAnswer Of(CheckBalanceResponse response) => new()
    {
        Balance = Of(response.Balance),
        Available = Of(response.Available),
        CreditLimit = Of(response.CreditLimit),
        Version = response.Version,
        AsOf = Of(response.AsOf),
    };

    public static CreditLimitAnswer Of(SetCreditLimitResponse response) => new()
    {
        TransactionId = response.TransactionId,
        Limit = Of(response.Limit),
        Balance = Of(response.Balance),
        Version = response.Version,
    };

    public static StatementAnswer Of(Wire.V1.StatementPage page)
    {
        var entries = new StatementEntryJson[page.Entries.Count];
        for (var i = 0; i < entries.Length; i++)
        {
            entries[i] = Of(page.Entries[i]);
        }
        return new StatementAnswer { Entries = entries, Next = page.HasMore ? entries[^1].Version : null };
    }

    public static string NameOf(PaymentType type) => Name(PaymentTypes, (int)type);

    private static StatementEntryJson Of(StatementEntry entry) => new()
    {
        Version = entry.Version,
        Type = Name(EntryTypes, (int)entry.Type),
        TransactionId = NullIfEmpty(entry.TransactionId),
        DecidedAt = Of(entry.DecidedAt),
        Amount = Of(entry.Amount),
        DeclineReason = NameOrNull(DeclineReasons, (int)entry.DeclineReason),
        Balance = Of(entry.Balance),
    };

    private static MoneyJson? Of(Money? money) => money is null
        ? null
        : new MoneyJson { CurrencyCode = money.CurrencyCode, Units = money.Units, Nanos = money.Nanos };

    private static DateTime? Of(Timestamp? at) => at?.ToDateTime();

    private static EnumDescriptor Names(string name) => BillingReflection.Descriptor.FindTypeByName<EnumDescriptor>(name);

    private static string? NameOrNull(EnumDescriptor names, int number) => number == 0 ? null : Name(names, number);

    private static string Name(EnumDescriptor names, int number) => names.FindValueByNumber(number)?.Name ?? "UNKNOWN";

    private static string? NullIfEmpty(string text) => text.Length == 0 ? null : text;
}
