using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Billing.Backends.Domain;
using JasperFx.Events;
using Marten;

namespace Billing.Backends.EventStore;

/// <summary>The names under which events are stored, and their JSON. A name carries the version of the event's shape and
/// is never reused.</summary>
public static class EventTypes
{
    private static readonly Dictionary<string, Type> Types = new(StringComparer.Ordinal)
    {
        ["payment_accepted_v1"] = typeof(PaymentAccepted),
        ["payment_declined_v1"] = typeof(PaymentDeclined),
        ["credit_limit_changed_v1"] = typeof(CreditLimitChanged),
    };

    /// <summary>Tells Marten how and where events are stored.</summary>
    public static void Configure(StoreOptions options, string schema)
    {
        options.DatabaseSchemaName = schema;
        options.DisableNpgsqlLogging = true;
        options.Events.StreamIdentity = StreamIdentity.AsString;
        options.Events.AppendMode = EventAppendMode.Quick;
        foreach (var (name, type) in Types)
        {
            options.Events.MapEventType(type, name);
        }
        options.UseSystemTextJsonForSerialization(
            configure: json => json.TypeInfoResolver =
                JsonTypeInfoResolver.Combine(EventJson.Default, new DefaultJsonTypeInfoResolver()));
    }

    /// <summary>Reads a stored event.</summary>
    /// <exception cref="InvalidOperationException">The event is of a type that this version of the program does not
    /// know.</exception>
    public static AccountEvent Read(string type, ReadOnlySpan<byte> json) =>
        Types.TryGetValue(type, out var shape)
            ? (AccountEvent)JsonSerializer.Deserialize(json, EventJson.Default.GetTypeInfo(shape)!)!
            : throw new InvalidOperationException($"The event store holds an event of the unknown type '{type}'.");
}

/// <summary>Serialises events without reflection.</summary>
[JsonSerializable(typeof(PaymentAccepted))]
[JsonSerializable(typeof(PaymentDeclined))]
[JsonSerializable(typeof(CreditLimitChanged))]
internal sealed partial class EventJson : JsonSerializerContext;
