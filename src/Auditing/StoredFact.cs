using System.Text.Json;

namespace Billing.Auditing;

/// <summary>A stored event, parsed from its JSON by code of the auditor: an audit with the backends' parser would
/// repeat the backends' mistakes and find nothing.</summary>
/// <param name="Kind">The kind of event.</param>
/// <param name="TransactionId">The transaction id.</param>
/// <param name="Amount">The amount of the payment or refund, or the new limit; zero for a change of the status.</param>
/// <param name="Currency">The currency (ISO 4217); empty for a change of the status.</param>
/// <param name="Balance">The balance of the account after it, as it states it.</param>
/// <param name="Reason">The reason of a declined payment, a number of the contract's DeclineReason;
/// 0 otherwise.</param>
/// <param name="KeptIn">The currency of the account after it, as a declined payment or a change of the
/// status states it.</param>
internal sealed record StoredFact(
    TransactionKind Kind, Guid TransactionId, decimal Amount, string Currency, decimal Balance, int Reason = 0,
    string? KeptIn = null)
{
    /// <summary>The payment that the event follows up, with what the event says has become of it;
    /// null if it follows up none.</summary>
    public (Guid Id, PaymentTotals Totals)? Payment { get; init; }

    /// <summary>What is not on hold any more without being charged.</summary>
    public decimal Released { get; init; }

    /// <summary>What is on hold on the account after it, as it states it; zero if it states nothing.</summary>
    public decimal OnHold { get; init; }

    /// <summary>The status of the account after it, as it states it: a number of the contract's
    /// AccountStatus.</summary>
    public int Status { get; init; } = Open;

    /// <summary>Whether it states which currency the account is kept in apart from that of its amount.</summary>
    public bool StatesCurrency =>
        Kind is TransactionKind.Declined or TransactionKind.AuthorisationDeclined or TransactionKind.StatusChanged;

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
    /// <exception cref="FormatException">The type is unknown, or a field is missing or invalid;
    /// the message contains the cause.</exception>
    public static StoredFact Read(string type, ReadOnlyMemory<byte> json)
    {
        try
        {
            using var document = JsonDocument.Parse(json);
            var content = document.RootElement;
            StoredFact Fact(TransactionKind kind, string amount = "Amount") =>
                new(kind, Id(content), Number(content, amount), CurrencyOf(content), Number(content, "Balance"));
            StoredFact Declined(TransactionKind kind) => Fact(kind) with { Reason = Of(content, "Reason").GetInt32() };
            StoredFact Released(TransactionKind kind) =>
                new(kind, Id(content), 0, CurrencyOf(content), Number(content, "Balance"))
                {
                    Payment = PaymentOf(content),
                    Released = Number(content, "Released"),
                };
            var fact = type switch
            {
                "payment_accepted_v1" => Fact(TransactionKind.Accepted),
                "payment_declined_v1" => Declined(TransactionKind.Declined),
                "credit_limit_changed_v1" => Fact(TransactionKind.LimitChanged, "Limit"),
                "payment_refunded_v1" => Fact(TransactionKind.Refunded) with { Payment = PaymentOf(content) },
                "payment_authorised_v1" => Fact(TransactionKind.Authorised),
                "authorisation_declined_v1" => Declined(TransactionKind.AuthorisationDeclined),
                "payment_captured_v1" => Fact(TransactionKind.Captured) with
                {
                    Payment = PaymentOf(content),
                    Released = Number(content, "Released"),
                },
                "authorisation_voided_v1" => Released(TransactionKind.Voided),
                "authorisation_expired_v1" => Released(TransactionKind.Expired),
                "account_status_changed_v1" => new(
                    TransactionKind.StatusChanged, Id(content), 0, "", Number(content, "Balance")),
                _ => throw new FormatException($"'{type}' is not an event type that this version of the audit knows."),
            };
            return fact with
            {
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

    private static JsonElement? Optional(JsonElement content, string name) =>
        content.TryGetProperty(name, out var value) ? value : null;
}

/// <summary>The kind of a transaction.</summary>
internal enum TransactionKind : byte
{
    Nothing,
    Accepted,
    Declined,
    LimitChanged,
    Refunded,
    Authorised,
    AuthorisationDeclined,
    Captured,
    Voided,
    Expired,
    StatusChanged,
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
    public override string ToString() =>
        FormattableString.Invariant($"charged {Charged}, refunded {Refunded}, held {Held}");

    /// <summary>Whether an event that leads to these totals was allowed.</summary>
    public bool Allow(StoredFact fact) => Held >= 0 && Refunded <= Charged
        && (fact.Kind is not (TransactionKind.Voided or TransactionKind.Expired) || (fact.Released > 0 && Held == 0));
}
