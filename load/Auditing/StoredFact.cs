using System.Text.Json;

namespace Billing.Auditing;

/// <summary>A stored event, parsed from its JSON by code of the auditor: an audit with the backends' parser would repeat the
/// backends' mistakes and find nothing.</summary>
/// <param name="Kind">The kind of event.</param>
/// <param name="TransactionId">The transaction id; empty for a limit change in the old format, which has none.</param>
/// <param name="Amount">The amount of the payment or refund, or the new limit; zero for a change of the status.</param>
/// <param name="Currency">The currency (ISO 4217); empty for a change of the status.</param>
/// <param name="Reason">The reason of a declined payment, a number of the contract's DeclineReason; 0 otherwise.</param>
/// <param name="Balance">The balance of the account after it, as it states it; null if it states none.</param>
/// <param name="KeptIn">The currency of the account after it, as a declined payment or a change of the status states it.</param>
internal sealed record StoredFact(
    TransactionKind Kind, Guid TransactionId, decimal Amount, string Currency, int Reason = 0, decimal? Balance = null, string? KeptIn = null)
{
    /// <summary>The payment that the event follows up, with what the event says has become of it; null if it follows up none.</summary>
    public (Guid Id, PaymentTotals Totals)? Payment { get; init; }

    /// <summary>What is not on hold any more without being charged.</summary>
    public decimal Released { get; init; }

    /// <summary>What is on hold on the account after it, as it states it; zero if it states nothing.</summary>
    public decimal OnHold { get; init; }

    /// <summary>The status of the account after it, as it states it: a number of the contract's AccountStatus.</summary>
    public int Status { get; init; } = Open;

    /// <summary>Whether it states which currency the account is kept in apart from that of its amount.</summary>
    public bool StatesCurrency => Kind is TransactionKind.Declined or TransactionKind.AuthorisationDeclined or TransactionKind.StatusChanged;

    /// <summary>The currency of the account after it; null if it has none.</summary>
    public string? AccountCurrency => StatesCurrency ? KeptIn : Currency;

    /// <summary>The stored number of DeclineReason.CREDIT_LIMIT_EXCEEDED.</summary>
    public const int LimitExceeded = 1;

    /// <summary>The stored number of DeclineReason.CURRENCY_MISMATCH.</summary>
    public const int OtherCurrency = 2;

    /// <summary>The stored number of DeclineReason.ACCOUNT_FROZEN.</summary>
    public const int AccountFrozen = 3;

    /// <summary>The stored number of DeclineReason.ACCOUNT_CLOSED.</summary>
    public const int AccountClosed = 4;

    /// <summary>The number of AccountStatus.OPEN, which is not stored.</summary>
    public const int Open = 1;

    /// <summary>The stored number of AccountStatus.FROZEN.</summary>
    public const int Frozen = 2;

    /// <summary>The stored number of AccountStatus.CLOSED.</summary>
    public const int Closed = 3;

    /// <summary>Parses a stored event.</summary>
    /// <param name="type">Its event type.</param>
    /// <param name="json">Its content.</param>
    /// <exception cref="FormatException">The type is unknown, or a field is missing or invalid; the message contains the cause.
    /// </exception>
    public static StoredFact Read(string type, ReadOnlyMemory<byte> json)
    {
        try
        {
            using var document = JsonDocument.Parse(json);
            var content = document.RootElement;
            var fact = type switch
            {
                "payment_accepted_v1" => new StoredFact(TransactionKind.Accepted, Id(content), Number(content, "Amount"), CurrencyOf(content)),
                "payment_declined_v1" => new(
                    TransactionKind.Declined, Id(content), Number(content, "Amount"), CurrencyOf(content), Of(content, "Reason").GetInt32()),
                "credit_limit_changed_v1" => new(TransactionKind.LimitChanged, Guid.Empty, Number(content, "Limit"), CurrencyOf(content)),
                "credit_limit_changed_v2" => new(TransactionKind.LimitChanged, Id(content), Number(content, "Limit"), CurrencyOf(content)),
                "payment_refunded_v1" => new(TransactionKind.Refunded, Id(content), Number(content, "Amount"), CurrencyOf(content))
                {
                    Payment = PaymentOf(content),
                },
                "payment_authorised_v1" => new(TransactionKind.Authorised, Id(content), Number(content, "Amount"), CurrencyOf(content)),
                "authorisation_declined_v1" => new(
                    TransactionKind.AuthorisationDeclined, Id(content), Number(content, "Amount"), CurrencyOf(content), Of(content, "Reason").GetInt32()),
                "payment_captured_v1" => new(TransactionKind.Captured, Id(content), Number(content, "Amount"), CurrencyOf(content))
                {
                    Payment = PaymentOf(content),
                    Released = Number(content, "Released"),
                },
                "authorisation_voided_v1" or "authorisation_expired_v1" => new(
                    type == "authorisation_voided_v1" ? TransactionKind.Voided : TransactionKind.Expired, Id(content), 0, CurrencyOf(content))
                {
                    Payment = PaymentOf(content),
                    Released = Number(content, "Released"),
                },
                "account_status_changed_v1" => new(TransactionKind.StatusChanged, Id(content), 0, ""),
                _ => throw new FormatException($"'{type}' is not an event type that this version of the audit knows."),
            };
            return fact with
            {
                Balance = Optional(content, "Balance")?.GetDecimal(),
                OnHold = Optional(content, "OnHold")?.GetDecimal() ?? 0,
                Status = Optional(content, "Status")?.GetInt32() ?? Open,
                KeptIn = Optional(content, "KeptIn")?.GetString(),
            };
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            throw new FormatException(e.Message, e);
        }
    }

    private static (Guid, PaymentTotals) PaymentOf(JsonElement content) => (
        Of(content, "PaymentId").GetGuid(),
        new PaymentTotals(Number(content, "Charged"), Number(content, "Refunded"), Number(content, "Held")));

    private static Guid Id(JsonElement content) => Of(content, "TransactionId").GetGuid();

    private static decimal Number(JsonElement content, string name) => Of(content, name).GetDecimal();

    private static string CurrencyOf(JsonElement content) =>
        Of(content, "Currency").GetString() ?? throw new FormatException("Currency is null.");

    private static JsonElement Of(JsonElement content, string name) =>
        Optional(content, name) ?? throw new FormatException($"{name} is missing.");

    private static JsonElement? Optional(JsonElement content, string name) => content.TryGetProperty(name, out var value) ? value : null;
}

/// <summary>What has become of a payment.</summary>
/// <param name="Charged">What was charged.</param>
/// <param name="Refunded">What was given back.</param>
/// <param name="Held">What is on hold.</param>
internal readonly record struct PaymentTotals(decimal Charged, decimal Refunded, decimal Held)
{
    /// <summary>The totals after an event.</summary>
    public PaymentTotals After(StoredFact fact) => fact.Kind == TransactionKind.Refunded
        ? this with { Refunded = Refunded + fact.Amount }
        : new(Charged + fact.Amount, Refunded, Held - fact.Amount - fact.Released);

    /// <inheritdoc/>
    public override string ToString() => FormattableString.Invariant($"charged {Charged}, refunded {Refunded}, held {Held}");

    /// <summary>Whether an event that leads to these totals was allowed.</summary>
    public bool Allow(StoredFact fact) => Held >= 0 && Refunded <= Charged
        && (fact.Kind is not (TransactionKind.Voided or TransactionKind.Expired) || (fact.Released > 0 && Held == 0));
}
