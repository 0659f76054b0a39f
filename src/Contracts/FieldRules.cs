using System.Buffers;
using System.Globalization;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;

namespace Billing.Contracts;

/// <summary>What is wrong with a field of a request.</summary>
/// <param name="Field">The field's path, e.g. <c>amount.nanos</c>.</param>
/// <param name="Problem">What the field must be, and what it was.</param>
public sealed record FieldViolation(string Field, string Problem)
{
    /// <inheritdoc/>
    public override string ToString() => $"{Field} {Problem}";
}

/// <summary>The rules of billing.proto that the protobuf schema cannot state. The proxy turns a violation into
/// INVALID_ARGUMENT; a backend, which must not trust what it reads from a topic, turns it into a dead letter.</summary>
public static class FieldRules
{
    /// <summary>The most characters that an account id may have.</summary>
    public const int AccountIdLengthMax = 64;

    /// <summary>The largest payment, in units of its currency.</summary>
    public const long AmountUnitsMax = 1_000_000_000;

    /// <summary>The largest credit limit, in units of its currency.</summary>
    public const long LimitUnitsMax = 1_000_000_000_000_000;

    /// <summary>How long an amount stays on hold if its request does not say, in seconds: seven days.</summary>
    public const int HoldSecondsDefault = 7 * 24 * 60 * 60;

    /// <summary>The longest that an amount can stay on hold, in seconds: 31 days.</summary>
    public const int HoldSecondsMax = 31 * 24 * 60 * 60;

    /// <summary>The most pairs that a request may have as metadata.</summary>
    public const int MetadataPairsMax = 8;

    /// <summary>The most characters that the name of such a pair may have.</summary>
    public const int MetadataNameLengthMax = 40;

    /// <summary>The most characters that a reference, or the value of such a pair, may have.</summary>
    public const int NoteLengthMax = 100;

    // The most of a caller's text that a message repeats.
    private const int ShownMax = 40;

    private static readonly string AccountStatuses = ShortNames.In<AccountStatus>().Listed;

    private static readonly SearchValues<char> NameCharacters =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

    // By the number of decimals: the nanos of the last one.
    private static readonly int[] NanosOfDecimal = [1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000];

    private static readonly SearchValues<char> UuidCharacters = SearchValues.Create("0123456789ABCDEFabcdef-");

    /// <summary>The first rule that a payment breaks, or null.</summary>
    public static FieldViolation? Check(MakePaymentRequest request) =>
        CheckCommand(request) ?? CheckCurrency(request.Amount, "amount");

    /// <summary>The first rule that a payment in a command breaks, or null. A command may be of a proxy of another
    /// release, with another list of currencies or none, and what a proxy accepted has to be processed: its currency
    /// may be any three letters.</summary>
    public static FieldViolation? CheckCommand(MakePaymentRequest request) =>
        CheckId(request.TransactionId, "transaction_id")
        ?? CheckAccount(request.PaymentType, request.AccountId)
        ?? CheckAmount(request.Amount)
        ?? CheckNotes(request.Notes);

    /// <summary>The first rule that an authorisation breaks, or null.</summary>
    public static FieldViolation? Check(AuthorisePaymentRequest request) =>
        CheckCommand(request) ?? CheckCurrency(request.Amount, "amount");

    /// <summary>The first rule that an authorisation in a command breaks, or null; see the payment's.</summary>
    public static FieldViolation? CheckCommand(AuthorisePaymentRequest request) =>
        CheckId(request.TransactionId, "transaction_id")
        ?? CheckAccount(request.PaymentType, request.AccountId)
        ?? CheckAmount(request.Amount)
        ?? CheckHoldDuration(request.HoldDuration)
        ?? CheckNotes(request.Notes);

    /// <summary>The first rule that a capture breaks, or null.</summary>
    public static FieldViolation? Check(CapturePaymentRequest request) =>
        CheckCommand(request) ?? CheckCurrency(request.Amount, "amount");

    /// <summary>The first rule that a capture in a command breaks, or null; see the payment's.</summary>
    public static FieldViolation? CheckCommand(CapturePaymentRequest request) =>
        CheckId(request.TransactionId, "transaction_id")
        ?? CheckAccount(request.PaymentType, request.AccountId)
        ?? CheckId(request.PaymentId, "payment_id")
        ?? CheckAmount(request.Amount)
        ?? CheckNotes(request.Notes);

    /// <summary>The first rule that the voiding of a hold breaks, or null.</summary>
    public static FieldViolation? Check(VoidPaymentRequest request) =>
        CheckId(request.TransactionId, "transaction_id")
        ?? CheckAccount(request.PaymentType, request.AccountId)
        ?? CheckId(request.PaymentId, "payment_id");

    /// <summary>The first rule that a refund breaks, or null.</summary>
    public static FieldViolation? Check(RefundPaymentRequest request) =>
        CheckCommand(request) ?? CheckCurrency(request.Amount, "amount");

    /// <summary>The first rule that a refund in a command breaks, or null; see the payment's.</summary>
    public static FieldViolation? CheckCommand(RefundPaymentRequest request) =>
        CheckId(request.TransactionId, "transaction_id")
        ?? CheckAccount(request.PaymentType, request.AccountId)
        ?? CheckId(request.PaymentId, "payment_id")
        ?? CheckAmount(request.Amount)
        ?? CheckNotes(request.Notes);

    /// <summary>The first rule that a change of a credit limit breaks, or null.</summary>
    public static FieldViolation? Check(SetCreditLimitRequest request) =>
        CheckCommand(request) ?? CheckCurrency(request.Limit, "limit");

    /// <summary>The first rule that a change of a credit limit in a command breaks, or null;
    /// see the payment's.</summary>
    public static FieldViolation? CheckCommand(SetCreditLimitRequest request) =>
        CheckId(request.TransactionId, "transaction_id")
        ?? CheckAccount(request.PaymentType, request.AccountId)
        ?? CheckLimit(request.Limit);

    /// <summary>The first rule that a change of an account's status breaks, or null.</summary>
    public static FieldViolation? Check(SetAccountStatusRequest request) =>
        CheckId(request.TransactionId, "transaction_id")
        ?? CheckAccount(request.PaymentType, request.AccountId)
        ?? CheckAccountStatus(request.AccountStatus)
        ?? CheckNotes(request.Notes);

    /// <summary>The first rule that a request for a statement breaks, or null; whether the token is of such a
    /// request, a proxy sees.</summary>
    public static FieldViolation? Check(ListStatementRequest request) =>
        CheckAccount(request.PaymentType, request.AccountId)
        ?? CheckRange(request.StartTime, request.EndTime)
        ?? CheckTypes(request.Types_)
        ?? CheckNotNegative(request.AfterVersion, "after_version")
        ?? CheckNotNegative(request.PageSize, "page_size");

    /// <summary>Reads a payment type by its name, ignoring case.</summary>
    public static bool TryReadPaymentType(string text, out PaymentType type)
    {
        foreach (var known in PaymentTypes.All)
        {
            if (text.Equals(PaymentTypes.NameOf(known), StringComparison.OrdinalIgnoreCase))
            {
                type = known;
                return true;
            }
        }
        type = PaymentType.Unspecified;
        return false;
    }

    /// <summary>The violation to report for an unknown payment type name.</summary>
    public static FieldViolation UnknownPaymentType(string text) =>
        new("payment_type", $"must be {PaymentTypes.Listed}; it is '{Shorten(text)}'");

    /// <summary>The violation to report for an unknown status of an account.</summary>
    public static FieldViolation UnknownAccountStatus(string text) => text.Length == 0
        ? new("account_status", $"is missing; it must be {AccountStatuses}")
        : new("account_status", $"must be {AccountStatuses}; it is '{Shorten(text)}'");

    private static FieldViolation? CheckAccountStatus(AccountStatus status) => status switch
    {
        AccountStatus.Unspecified => UnknownAccountStatus(""),
        _ when System.Enum.IsDefined(status) => null,
        _ => UnknownAccountStatus(Invariant($"{(int)status}")),
    };

    /// <summary>The rule that an id of a request breaks, or null.</summary>
    /// <param name="id">The id.</param>
    /// <param name="field">The path of its field.</param>
    // Guid's own parser also accepts white space around the UUID and "+" or "0x" inside it.
    public static FieldViolation? CheckId(string id, string field) =>
        id.Length == 36 && id.AsSpan().IndexOfAnyExcept(UuidCharacters) < 0
            && Guid.TryParseExact(id, "D", out var value) && value != Guid.Empty
            ? null
            : new FieldViolation(field, id.Length == 0
                ? "is missing; it must be a UUID"
                : $"must be a UUID of the form 01234567-89ab-cdef-0123-456789abcdef; it is '{Shorten(id)}'");

    /// <summary>Whether a text may be the id of an account.</summary>
    public static bool IsAccountId(string id) => CheckAccountId(id) is null;

    /// <summary>The first rule that an account breaks, or null.</summary>
    /// <param name="type">Its payment type.</param>
    /// <param name="id">Its id.</param>
    public static FieldViolation? CheckAccount(PaymentType type, string id) =>
        CheckAccountId(id) ?? CheckPaymentType(type);

    private static FieldViolation? CheckAccountId(string id)
    {
        if (id.Length == 0)
        {
            return new FieldViolation("account_id", "is missing");
        }
        if (id.AsSpan().IndexOfAnyExcept(NameCharacters) >= 0)
        {
            return new FieldViolation(
                "account_id", $"may have only the characters A-Z a-z 0-9 . _ -; it is '{Shorten(id)}'");
        }
        return id.Length > AccountIdLengthMax
            ? new FieldViolation(
                "account_id", Invariant($"must have at most {AccountIdLengthMax} characters; it has {id.Length}"))
            // A URL with one of these as a segment is another URL.
            : id is "." or ".." ? new FieldViolation("account_id", $"must not be '{id}'")
            : null;
    }

    // A pair is not quoted: what callers keep there is not for logs.
    private static FieldViolation? CheckNotes(PaymentNotes? notes)
    {
        if (notes is null)
        {
            return null;
        }
        if (CheckNote(notes.Reference, "notes.reference") is { } violation)
        {
            return violation;
        }
        if (notes.Metadata.Count > MetadataPairsMax)
        {
            return new FieldViolation(
                "notes.metadata",
                Invariant($"must have at most {MetadataPairsMax} pairs; it has {notes.Metadata.Count}"));
        }
        foreach (var (name, value) in notes.Metadata)
        {
            if (name.Length is 0 or > MetadataNameLengthMax || name.AsSpan().IndexOfAnyExcept(NameCharacters) >= 0)
            {
                return new FieldViolation(
                    "notes.metadata", Invariant($"must have names of 1 to {MetadataNameLengthMax} of the characters ")
                        + Invariant($"A-Z a-z 0-9 . _ -; one is '{Shorten(name)}'"));
            }
            if (CheckNote(value, $"notes.metadata[{name}]") is { } wrong)
            {
                return wrong;
            }
        }
        return null;
    }

    private static FieldViolation? CheckNote(string text, string field) =>
        LengthOf(text) is var length and > NoteLengthMax
            ? new FieldViolation(field, Invariant($"must have at most {NoteLengthMax} characters; it has {length}"))
        : text.Any(IsControl) ? new FieldViolation(
            field, "must not have control characters, separators of lines or controls of the direction of writing")
        : null;

    // Unicode's explicit directional formatting characters (UAX 9) make a text look like another one. The joiners of
    // emoji and the marks of right-to-left writing stay.
    private static bool IsControl(char character) => char.IsControl(character)
        || character is '\u2028' or '\u2029' or (>= '\u202A' and <= '\u202E') or (>= '\u2066' and <= '\u2069');

    private static FieldViolation? CheckPaymentType(PaymentType type) =>
        PaymentTypes.IsKnown(type) ? null
        : type == PaymentType.Unspecified ? new FieldViolation(
            "payment_type", $"is missing; it must be {PaymentTypes.Listed}")
        : new FieldViolation("payment_type", Invariant($"must be {PaymentTypes.Listed}; it is {(int)type}"));

    private static FieldViolation? CheckAmount(Money? amount) =>
        CheckForm(amount, "amount")
        ?? (amount!.Units < 0 || amount.Nanos < 0 || (amount.Units == 0 && amount.Nanos == 0)
            ? new FieldViolation("amount", Invariant($"must be more than zero; it is {amount.ToDecimal()}"))
            : null)
        ?? CheckMost(amount, "amount", AmountUnitsMax);

    private static FieldViolation? CheckLimit(Money? limit) =>
        CheckForm(limit, "limit")
        ?? (limit!.Units < 0 || limit.Nanos < 0
            ? new FieldViolation("limit", Invariant($"must not be negative; it is {limit.ToDecimal()}"))
            : null)
        ?? CheckMost(limit, "limit", LimitUnitsMax);

    private static FieldViolation? CheckForm(Money? money, string field)
    {
        if (money is null)
        {
            return new FieldViolation(field, "is missing");
        }
        if (money.CurrencyCode.Length != 3 || money.CurrencyCode.AsSpan().IndexOfAnyExceptInRange('A', 'Z') >= 0)
        {
            return new FieldViolation(field + ".currency_code",
                $"must be three capital letters as in ISO 4217; it is '{Shorten(money.CurrencyCode)}'");
        }
        if (money.Nanos is <= -MoneyExtensions.NanosPerUnit or >= MoneyExtensions.NanosPerUnit)
        {
            return new FieldViolation(field + ".nanos",
                Invariant($"must be between -999999999 and 999999999; it is {money.Nanos}"));
        }
        return (money.Units > 0 && money.Nanos < 0) || (money.Units < 0 && money.Nanos > 0)
            ? new FieldViolation(field + ".nanos", $"must not have the opposite sign of {field}.units")
            : null;
    }

    private static FieldViolation? CheckMost(Money money, string field, long unitsMax) =>
        money.Units > unitsMax || (money.Units == unitsMax && money.Nanos > 0)
            ? new FieldViolation(field + ".units", Invariant($"must be at most {unitsMax}; it is {money.Units}"))
            : null;

    private static FieldViolation? CheckCurrency(Money money, string field)
    {
        if (Currencies.DecimalsOf(money.CurrencyCode) is not { } decimals)
        {
            return new FieldViolation(
                field + ".currency_code",
                $"must be a currency of ISO 4217 that is in use; it is '{money.CurrencyCode}'");
        }
        var smallest = NanosOfDecimal[decimals];
        return money.Nanos % smallest == 0
            ? null
            : new FieldViolation(field + ".nanos",
                Invariant($"must be a multiple of {smallest}, since {money.CurrencyCode} has {decimals} decimals; ")
                    + Invariant($"it is {money.Nanos}"));
    }

    private static FieldViolation? CheckRange(Timestamp? from, Timestamp? before) =>
        CheckTime(from, "start_time")
        ?? CheckTime(before, "end_time")
        ?? (from is not null && before is not null && before <= from
            ? new FieldViolation("end_time", Invariant($"must be later than start_time, {from.ToDateTimeOffset():O}; ")
                + Invariant($"it is {before.ToDateTimeOffset():O}"))
            : null);

    private static FieldViolation? CheckTypes(IEnumerable<StatementEntryType> types)
    {
        var known = new HashSet<StatementEntryType>();
        foreach (var type in types)
        {
            if (type == StatementEntryType.Unspecified || !System.Enum.IsDefined(type))
            {
                return new FieldViolation("types", Invariant($"must be types of entries; one is {(int)type}"));
            }
            if (!known.Add(type))
            {
                return new FieldViolation("types", Invariant($"must name each type once; {type} is there twice"));
            }
        }
        return null;
    }

    // Zero is as good as absent.
    private static FieldViolation? CheckHoldDuration(Duration? duration) =>
        duration is null or { Seconds: >= 0 and <= HoldSecondsMax, Nanos: 0 }
            ? null
            : new FieldViolation(
                "hold_duration",
                Invariant($"must be whole seconds, 1 to {HoldSecondsMax}; ")
                    + Invariant($"it has {duration.Seconds} seconds and {duration.Nanos} nanos"));

    /// <summary>The rule that a time breaks, or null: it is of the years 1 to 9999, as protobuf defines it.</summary>
    /// <param name="time">The time; null for none, which is valid.</param>
    /// <param name="field">The path of its field.</param>
    public static FieldViolation? CheckTime(Timestamp? time, string field) =>
        time is null
        || (time.Seconds is >= -62_135_596_800 and < 253_402_300_800
            && time.Nanos is >= 0 and < MoneyExtensions.NanosPerUnit)
            ? null
            : new FieldViolation(field, "must be a time of the years 1 to 9999; "
                + Invariant($"it has {time.Seconds} seconds and {time.Nanos} nanos"));

    /// <summary>The rule that a number breaks which must not be negative, or null.</summary>
    /// <param name="value">The number.</param>
    /// <param name="field">The path of its field.</param>
    public static FieldViolation? CheckNotNegative(long value, string field) =>
        value < 0 ? new FieldViolation(field, Invariant($"must not be negative; it is {value}")) : null;

    /// <summary>A text as an error quotes it: its beginning if it is long, and never one half of a character that
    /// UTF-16 has as two.</summary>
    public static string Shorten(string text) =>
        text.Length <= ShownMax
            ? text
            : string.Concat(text.AsSpan(0, char.IsHighSurrogate(text[ShownMax - 1]) ? ShownMax - 1 : ShownMax), "...");

    // In characters of Unicode, of which UTF-16 has some as two.
    private static int LengthOf(string text) =>
        text.Length <= NoteLengthMax ? text.Length : text.EnumerateRunes().Count();

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
