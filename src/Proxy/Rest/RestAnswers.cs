using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Billing.Proxy.Failures;
using Billing.V1;
using Google.Protobuf.Reflection;

namespace Billing.Proxy.Rest;

/// <summary>A JSON answer, written at once with its content length.</summary>
internal sealed class JsonAnswer<T>(T value, JsonTypeInfo<T> type) : IResult
{
    public Task ExecuteAsync(HttpContext httpContext)
    {
        JsonBody.Write(httpContext.Response, value, type, "application/json");
        return Task.CompletedTask;
    }
}

/// <summary>An amount of money: units + nanos / 10^9. Units and nanos never have opposite signs.</summary>
internal sealed class MoneyJson
{
    /// <summary>Three capital letters as in ISO 4217, e.g. USD.</summary>
    public string? CurrencyCode { get; set; }

    /// <summary>Whole units. A string in answers, since JavaScript's numbers are exact only up to 2^53; a string or a number in
    /// requests.</summary>
    [JsonNumberHandling(JsonNumberHandling.WriteAsString | JsonNumberHandling.AllowReadingFromString)]
    [JsonIgnore(Condition = JsonIgnoreCondition.Never)]
    public long Units { get; set; }

    /// <summary>Billionths of a unit, from -999999999 to 999999999.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.Never)]
    public int Nanos { get; set; }
}

internal static class JsonConversions
{
    public static Money? ToMoney(this MoneyJson? money) => money is null
        ? null
        : new Money { CurrencyCode = money.CurrencyCode ?? "", Units = money.Units, Nanos = money.Nanos };

    public static MoneyJson? ToJson(this Money? money) => money is null
        ? null
        : new MoneyJson { CurrencyCode = money.CurrencyCode, Units = money.Units, Nanos = money.Nanos };

    public static string? OrNull(this string text) => text.Length == 0 ? null : text;
}

/// <summary>The names of enum values, as in the contract.</summary>
internal static class Names
{
    private static readonly EnumDescriptor Outcomes = In("PaymentOutcome");
    private static readonly EnumDescriptor DeclineReasons = In("DeclineReason");
    private static readonly EnumDescriptor PaymentTypes = In("PaymentType");
    private static readonly EnumDescriptor EntryTypes = In("StatementEntryType");

    public static string Of(PaymentOutcome outcome) => Name(Outcomes, (int)outcome);

    public static string? Of(DeclineReason reason) => reason == DeclineReason.Unspecified ? null : Name(DeclineReasons, (int)reason);

    public static string Of(PaymentType type) => Name(PaymentTypes, (int)type);

    public static string Of(StatementEntryType type) => Name(EntryTypes, (int)type);

    private static EnumDescriptor In(string name) => BillingReflection.Descriptor.FindTypeByName<EnumDescriptor>(name);

    private static string Name(EnumDescriptor names, int number) => names.FindValueByNumber(number)?.Name ?? "UNKNOWN";
}
