using System.Text.Json;

namespace Billing.Auditing;

/// <summary>An event as the store holds it, read from its JSON by the auditor's own code: with the backends' reader an audit
/// would make the backends' mistakes and find nothing.</summary>
/// <param name="Kind">What happened.</param>
/// <param name="TransactionId">Of which transaction; empty for a change of a limit from before they had one.</param>
/// <param name="Amount">What was to be paid, or the new limit.</param>
/// <param name="Currency">ISO 4217.</param>
/// <param name="Reason">Why a payment was declined, a number of the contract's DeclineReason; 0 otherwise.</param>
internal sealed record StoredFact(TransactionKind Kind, Guid TransactionId, decimal Amount, string Currency, int Reason = 0)
{
    /// <summary>DeclineReason.CREDIT_LIMIT_EXCEEDED, as it is stored.</summary>
    public const int LimitExceeded = 1;

    /// <summary>DeclineReason.CURRENCY_MISMATCH, as it is stored.</summary>
    public const int OtherCurrency = 2;

    /// <summary>Reads a stored event.</summary>
    /// <param name="type">The name of its shape.</param>
    /// <param name="json">Its content.</param>
    /// <exception cref="FormatException">The shape is not known, or the content lacks something that the shape has; the
    /// message says what.</exception>
    public static StoredFact Read(string type, ReadOnlyMemory<byte> json)
    {
        try
        {
            using var document = JsonDocument.Parse(json);
            var content = document.RootElement;
            return type switch
            {
                "payment_accepted_v1" => new(TransactionKind.Accepted, Id(content), Number(content, "Amount"), CurrencyOf(content)),
                "payment_declined_v1" => new(
                    TransactionKind.Declined, Id(content), Number(content, "Amount"), CurrencyOf(content), Of(content, "Reason").GetInt32()),
                "credit_limit_changed_v1" => new(TransactionKind.LimitChanged, Guid.Empty, Number(content, "Limit"), CurrencyOf(content)),
                "credit_limit_changed_v2" => new(TransactionKind.LimitChanged, Id(content), Number(content, "Limit"), CurrencyOf(content)),
                _ => throw new FormatException($"'{type}' is no type of event that this version of the audit knows."),
            };
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            throw new FormatException(e.Message, e);
        }
    }

    private static Guid Id(JsonElement content) => Of(content, "TransactionId").GetGuid();

    private static decimal Number(JsonElement content, string name) => Of(content, name).GetDecimal();

    private static string CurrencyOf(JsonElement content) =>
        Of(content, "Currency").GetString() ?? throw new FormatException("Currency is null.");

    private static JsonElement Of(JsonElement content, string name) =>
        content.TryGetProperty(name, out var value) ? value : throw new FormatException($"{name} is missing.");
}
