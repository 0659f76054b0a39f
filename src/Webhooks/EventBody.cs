using System.Buffers;
using System.Text;
using System.Text.Json;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace Billing.Webhooks;

/// <summary>An event as receivers get it (docs/webhooks.md): JSON as in the REST API. The kind and what only some kinds
/// have are those of the event's <c>fact</c> in wire.proto, so a new kind needs nothing here.</summary>
internal static class EventBody
{
    private const string UnixTimeSuffix = "_unix_us";

    // Far above the longest name of a type with the longest account id.
    private const int StreamIdMax = 200;

    // Far above the longest notes and names.
    private const int BytesMax = 16 * 1024;

    private static readonly Dictionary<int, string> KindNames = Event.Descriptor.Oneofs.Single().Fields
        .ToDictionary(fact => fact.FieldNumber, fact => fact.Name.ToUpperInvariant());

    /// <summary>The kinds of events, e.g. <c>PAYMENT_ACCEPTED</c>.</summary>
    public static IReadOnlyCollection<string> Kinds => KindNames.Values;

    /// <summary>The kind of an event; null if this version of the program does not know it.</summary>
    public static string? KindOf(Event recorded) => KindNames.GetValueOrDefault((int)recorded.FactCase);

    /// <summary>Whether an event states an account, and times that are some, and is no larger than events are. Whoever
    /// may write to the topic can forge one that does not, and it must not hold up the others for ever.</summary>
    public static bool IsOfAccount(Event recorded) =>
        recorded.StreamId.Length <= StreamIdMax && recorded.StreamId.All(letter => letter is > ' ' and <= '~')
        && recorded.CalculateSize() <= BytesMax && UnixTime.IsDate(recorded.DecidedUnixUs)
        && Fact(recorded)
            .All(field => field.Value is not long time || !IsTime(field.Field) || time == 0 || UnixTime.IsDate(time));

    /// <summary>The payment type and the account of a stream, e.g. <c>VISA</c> and <c>acct-42</c>.</summary>
    public static (string PaymentType, string Account) Split(string streamId) =>
        StreamId.Split(streamId) is (var type, var account) ? (type.ToUpperInvariant(), account) : ("", streamId);

    /// <summary>The JSON of an event of a known kind.</summary>
    public static string Of(Event recorded)
    {
        var (type, account) = Split(recorded.StreamId);
        var buffer = new ArrayBufferWriter<byte>(512);
        using var json = new Utf8JsonWriter(buffer);
        json.WriteStartObject();
        json.WriteString("type", KindOf(recorded));
        json.WriteString("account_id", account);
        json.WriteString("payment_type", type);
        json.WriteNumber("version", recorded.Version);
        if (recorded.Incarnation > 0)
        {
            json.WriteNumber("incarnation", recorded.Incarnation);
        }
        json.WriteString("transaction_id", recorded.TransactionId);
        json.WriteString("decide_time", UnixTime.FromMicroseconds(recorded.DecidedUnixUs).UtcDateTime);
        foreach (var (field, value) in Fact(recorded))
        {
            Write(json, field, value);
        }
        Write(json, Event.Descriptor.FindFieldByNumber(Event.BalanceFieldNumber), recorded.Balance);
        Write(json, Event.Descriptor.FindFieldByNumber(Event.OnHoldFieldNumber), recorded.OnHold);
        Write(json, Event.Descriptor.FindFieldByNumber(Event.AccountStatusFieldNumber), recorded.AccountStatus);
        WriteNotes(json, recorded.Notes);
        json.WriteEndObject();
        json.Flush();
        return Encoding.UTF8.GetString(buffer.WrittenSpan);
    }

    private static IEnumerable<(FieldDescriptor Field, object? Value)> Fact(Event recorded) =>
        Event.Descriptor.Oneofs.Single().Accessor.GetCaseFieldDescriptor(recorded) is { } kind
        && kind.Accessor.GetValue(recorded) is IMessage fact
            ? fact.Descriptor.Fields.InDeclarationOrder()
                .Select(field => (field, (object?)field.Accessor.GetValue(fact)))
            : [];

    private static bool IsTime(FieldDescriptor field) => field.Name.EndsWith(UnixTimeSuffix, StringComparison.Ordinal);

    // In the order of the names, so that an event has one body.
    private static void WriteNotes(Utf8JsonWriter json, PaymentNotes? notes)
    {
        if (notes is null)
        {
            return;
        }
        json.WriteStartObject("notes");
        if (notes.Reference.Length > 0)
        {
            json.WriteString("reference", notes.Reference);
        }
        if (notes.Metadata.Count > 0)
        {
            json.WriteStartObject("metadata");
            foreach (var (name, value) in notes.Metadata.OrderBy(pair => pair.Key, StringComparer.Ordinal))
            {
                json.WriteString(name, value);
            }
            json.WriteEndObject();
        }
        json.WriteEndObject();
    }

    // What is not set is left out.
    private static void Write(Utf8JsonWriter json, FieldDescriptor field, object? value)
    {
        switch (value)
        {
            case Money money:
                json.WriteStartObject(field.Name);
                json.WriteString("currency_code", money.CurrencyCode);
                // JavaScript's numbers are exact only up to 2^53.
                json.WriteString("units", money.Units.ToString(System.Globalization.CultureInfo.InvariantCulture));
                json.WriteNumber("nanos", money.Nanos);
                json.WriteEndObject();
                break;
            case string { Length: > 0 } text:
                json.WriteString(field.Name, text);
                break;
            case Enum when ShortNames.In(field.EnumType).Of((int)value) is { } name:
                json.WriteString(field.Name, name);
                break;
            case long time and not 0 when IsTime(field):
                json.WriteString(
                    field.Name[..^UnixTimeSuffix.Length] + "_time", UnixTime.FromMicroseconds(time).UtcDateTime);
                break;
            case long and not 0:
                json.WriteNumber(field.Name, (long)value);
                break;
            case bool flag:
                json.WriteBoolean(field.Name, flag);
                break;
            case null or "" or Enum or 0L:
                break;
            default:
                throw new NotSupportedException($"The field {field.FullName} has a type that is not known here.");
        }
    }
}
