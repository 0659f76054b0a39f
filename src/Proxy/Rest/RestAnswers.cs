using System.ComponentModel.DataAnnotations;
using System.Diagnostics.CodeAnalysis;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.V1;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;

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

/// <summary>An amount in a request: units + nanos / 10^9.</summary>
internal sealed class AmountJson
{
    /// <summary>Three capital letters as in ISO 4217, e.g. USD.</summary>
    [Required]
    public string? CurrencyCode { get; set; }

    /// <summary>Whole units; 0 if absent. A number is accepted as well as a string.</summary>
    [JsonNumberHandling(JsonNumberHandling.AllowReadingFromString)]
    public long Units { get; set; }

    /// <summary>Billionths of a unit; 0 if absent.</summary>
    public int Nanos { get; set; }
}

/// <summary>An amount in an answer: units + nanos / 10^9. Units and nanos never have opposite signs.</summary>
internal sealed class MoneyJson
{
    /// <summary>Three capital letters as in ISO 4217, e.g. USD; empty for an account that
    /// has no currency yet.</summary>
    public required string CurrencyCode { get; init; }

    /// <summary>Whole units. A string, since JavaScript's numbers are exact only up to 2^53.</summary>
    [JsonNumberHandling(JsonNumberHandling.WriteAsString)]
    public required long Units { get; init; }

    /// <summary>Billionths of a unit, from -999999999 to 999999999.</summary>
    public required int Nanos { get; init; }
}

/// <summary>What a caller keeps with a request.</summary>
internal sealed class NotesJson
{
    /// <summary>E.g. the number of an order: up to 100 characters, no control characters.</summary>
    public string? Reference { get; set; }

    /// <summary>Up to eight pairs: names of 1 to 40 of the characters A-Z a-z 0-9 . _ -, values of up to 100
    /// characters, no control characters.</summary>
    public Dictionary<string, string?>? Metadata { get; set; }
}

internal static class JsonConversions
{
    /// <exception cref="FailureException">A value of the metadata is null.</exception>
    public static PaymentNotes? ToMessage(this NotesJson? notes)
    {
        if (notes is null)
        {
            return null;
        }
        var message = new PaymentNotes { Reference = notes.Reference ?? "" };
        foreach (var (name, value) in notes.Metadata ?? [])
        {
            message.Metadata.Add(
                name, value
                    ?? throw new FailureException(
                        Failure.BadField(new FieldViolation($"notes.metadata[{name}]", "must be a text; it is null"))));
        }
        return message;
    }

    public static NotesJson? ToJson(this PaymentNotes? notes) => notes is null
        ? null
        : new NotesJson
        {
            Reference = notes.Reference.OrNull(),
            Metadata = notes.Metadata.Count == 0
                ? null
                : notes.Metadata.ToDictionary(pair => pair.Key, string? (pair) => pair.Value),
        };

    public static Money? ToMoney(this AmountJson? money) => money is null
        ? null
        : new Money { CurrencyCode = money.CurrencyCode ?? "", Units = money.Units, Nanos = money.Nanos };

    /// <summary>A part that every answer of its kind has.</summary>
    /// <exception cref="FailureException">The backend left it out.</exception>
    public static T Needed<T>(this T? part)
        where T : class, IMessage<T>, new() =>
        part
        ?? throw new FailureException(
            Failure.InvalidAnswer($"without a {new T().Descriptor.Name} that every answer has"));

    [return: NotNullIfNotNull(nameof(money))]
    public static MoneyJson? ToJson(this Money? money) => money is null
        ? null
        : new MoneyJson { CurrencyCode = money.CurrencyCode, Units = money.Units, Nanos = money.Nanos };

    /// <exception cref="FailureException">It is no time of the years 1 to 9999.</exception>
    public static DateTime? ToJsonOrNull(this Timestamp? time) => time?.ToJson();

    /// <exception cref="FailureException">It is no time of the years 1 to 9999.</exception>
    public static DateTime ToJson(this Timestamp time)
    {
        try
        {
            return time.ToDateTime();
        }
        catch (InvalidOperationException)
        {
            throw new FailureException(Failure.InvalidAnswer("with a time that is not of the years 1 to 9999"));
        }
    }

    public static string? OrNull(this string text) => text.Length == 0 ? null : text;
}

/// <summary>The names of enum values, without the prefixes of the contract.</summary>
internal static class Names
{
    // A value that only a newer backend knows.
    private const string Unknown = "UNKNOWN";

    private static readonly ShortNames Outcomes = ShortNames.In<PaymentOutcome>();
    private static readonly ShortNames DeclineReasons = ShortNames.In<DeclineReason>();
    private static readonly ShortNames EntryTypes = ShortNames.In<StatementEntryType>();
    private static readonly ShortNames AccountStatuses = ShortNames.In<AccountStatus>();

    public static string Of(PaymentOutcome outcome) => Outcomes.Of((int)outcome) ?? Unknown;

    public static string? Of(DeclineReason reason) =>
        reason == DeclineReason.Unspecified ? null : DeclineReasons.Of((int)reason) ?? Unknown;

    public static string Of(StatementEntryType type) => EntryTypes.Of((int)type) ?? Unknown;

    public static string Of(AccountStatus status) => AccountStatuses.Of((int)status) ?? Unknown;

    public static bool TryRead(string name, out AccountStatus status)
    {
        status = (AccountStatus)AccountStatuses.NumberOf(name);
        return status != AccountStatus.Unspecified;
    }

    public static bool TryRead(string name, out StatementEntryType type)
    {
        type = (StatementEntryType)EntryTypes.NumberOf(name);
        return type != StatementEntryType.Unspecified;
    }
}
