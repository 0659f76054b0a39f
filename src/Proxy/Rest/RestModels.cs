using System.Text.Json.Serialization;
using Billing.Proxy.Failures;

namespace Billing.Proxy.Rest;

/// <summary>An amount of money: units + nanos / 10^9. Units and nanos never have opposite signs.</summary>
public sealed class MoneyJson
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

/// <summary>The body of a payment.</summary>
public sealed class PaymentBody
{
    /// <summary>The account: 1 to 64 of the characters A-Z a-z 0-9 . _ -</summary>
    public string? AccountId { get; set; }

    /// <summary>The card network: VISA, MASTERCARD, DISCOVER or AMEX, in any case.</summary>
    public string? PaymentType { get; set; }

    /// <summary>The amount to charge: more than zero and at most 1,000,000,000 units.</summary>
    public MoneyJson? Amount { get; set; }
}

/// <summary>The body of a change of a credit limit.</summary>
public sealed class CreditLimitBody
{
    /// <summary>The idempotency key: a UUID, created once and reused for retries.</summary>
    public string? TransactionId { get; set; }

    /// <summary>The new limit: zero or more, in the account's currency.</summary>
    public MoneyJson? Limit { get; set; }
}

/// <summary>The answer to a payment. A declined payment is an answer, not an error.</summary>
public sealed class PaymentAnswer
{
    /// <summary>The payment's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>ACCEPTED or DECLINED.</summary>
    public required string Outcome { get; init; }

    /// <summary>If declined, the reason: CREDIT_LIMIT_EXCEEDED or CURRENCY_MISMATCH.</summary>
    public string? DeclineReason { get; init; }

    /// <summary>Why it was declined, for a person.</summary>
    public string? Message { get; init; }

    /// <summary>What the account owes after the payment.</summary>
    public MoneyJson? Balance { get; init; }

    /// <summary>The version of the account that records the payment; pass it as min_version to read your own write.</summary>
    public required long Version { get; init; }
}

/// <summary>The status of a payment.</summary>
public sealed class PaymentStatusAnswer
{
    /// <summary>The payment's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>PENDING, ACCEPTED, DECLINED or FAILED. All but PENDING are final for the request that was sent; a failed payment
    /// charged nothing, and may be sent again.</summary>
    public required string Status { get; init; }

    /// <summary>The URL of the payment's status; only in the 202 answer to the payment.</summary>
    public string? StatusUrl { get; init; }

    /// <summary>If declined, the reason: CREDIT_LIMIT_EXCEEDED or CURRENCY_MISMATCH.</summary>
    public string? DeclineReason { get; init; }

    /// <summary>Why it was declined or failed, for a person.</summary>
    public string? Message { get; init; }

    /// <summary>What the account owes after the payment, if accepted or declined.</summary>
    public MoneyJson? Balance { get; init; }

    /// <summary>The version of the account that records the payment, if accepted or declined.</summary>
    public long? Version { get; init; }

    /// <summary>If failed, the constant for programs, e.g. COMMAND_EXPIRED.</summary>
    public string? Reason { get; init; }
}

/// <summary>What an account owes and may still spend.</summary>
public sealed class BalanceAnswer
{
    /// <summary>What the account owes.</summary>
    public MoneyJson? Balance { get; init; }

    /// <summary>What the account may still spend.</summary>
    public MoneyJson? Available { get; init; }

    /// <summary>The most that the account may owe.</summary>
    public MoneyJson? CreditLimit { get; init; }

    /// <summary>The account's version that the answer reflects; 0 for an account without events.</summary>
    public required long Version { get; init; }

    /// <summary>The time as of which the answer holds.</summary>
    public DateTime? AsOf { get; init; }
}

/// <summary>One page of a statement.</summary>
public sealed class StatementAnswer
{
    /// <summary>The events, in order.</summary>
    public required IReadOnlyList<StatementEntryJson> Entries { get; init; }

    /// <summary>The after_version of the next page; absent from the last one.</summary>
    public long? Next { get; init; }
}

/// <summary>One event of an account.</summary>
public sealed class StatementEntryJson
{
    /// <summary>Its position in the account's stream, from 1.</summary>
    public required long Version { get; init; }

    /// <summary>PAYMENT_ACCEPTED, PAYMENT_DECLINED or CREDIT_LIMIT_CHANGED.</summary>
    public required string Type { get; init; }

    /// <summary>The id of the payment or change that caused it.</summary>
    public string? TransactionId { get; init; }

    /// <summary>When it was decided.</summary>
    public DateTime? DecidedAt { get; init; }

    /// <summary>The payment's amount, or the new limit.</summary>
    public MoneyJson? Amount { get; init; }

    /// <summary>If a payment was declined, the reason: CREDIT_LIMIT_EXCEEDED or CURRENCY_MISMATCH.</summary>
    public string? DeclineReason { get; init; }

    /// <summary>What the account owes after the event.</summary>
    public MoneyJson? Balance { get; init; }
}

/// <summary>The answer to a change of a credit limit.</summary>
public sealed class CreditLimitAnswer
{
    /// <summary>The change's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>The new limit.</summary>
    public MoneyJson? Limit { get; init; }

    /// <summary>What the account owes; may be more than the limit if that was lowered.</summary>
    public MoneyJson? Balance { get; init; }

    /// <summary>The version of the account that records the change.</summary>
    public required long Version { get; init; }
}

[JsonSourceGenerationOptions(
    GenerationMode = JsonSourceGenerationMode.Metadata,
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
    AllowDuplicateProperties = false)]
[JsonSerializable(typeof(PaymentBody))]
[JsonSerializable(typeof(CreditLimitBody))]
[JsonSerializable(typeof(PaymentAnswer))]
[JsonSerializable(typeof(PaymentStatusAnswer))]
[JsonSerializable(typeof(BalanceAnswer))]
[JsonSerializable(typeof(StatementAnswer))]
[JsonSerializable(typeof(CreditLimitAnswer))]
[JsonSerializable(typeof(ProblemAnswer))]
internal sealed partial class RestJson : JsonSerializerContext;
