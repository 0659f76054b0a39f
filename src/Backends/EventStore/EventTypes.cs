using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Billing.Backends.Domain;
using JasperFx.Events;
using Marten;

namespace Billing.Backends.EventStore;

/// <summary>The names under which events are stored, and their JSON. A name includes the version of the event's shape and
/// is never reused. Stored events are never rewritten, so every former shape can be read, and is upcast to the current one.
/// </summary>
public static class EventTypes
{
    /// <summary>The stream of Marten's tombstones. After a failed save, Marten stores a tombstone event under each sequence
    /// number that the save had taken, so that the numbers have no holes; the stream's version stays 0. Queries over all
    /// streams or all events have to exclude this stream.</summary>
    public const string TombstoneStream = "mt_tombstone";

    private static readonly Dictionary<string, Type> Types = new(StringComparer.Ordinal)
    {
        ["payment_accepted_v1"] = typeof(PaymentAccepted),
        ["payment_declined_v1"] = typeof(PaymentDeclined),
        ["credit_limit_changed_v2"] = typeof(CreditLimitChanged),
    };

    private static readonly Dictionary<Type, (string Type, string DotnetType)> Names = Types.ToDictionary(
        type => type.Value, type => (type.Key, $"{type.Value.FullName}, {type.Value.Assembly.GetName().Name}"));

    /// <summary>Shapes that are no longer written, by name, each with its upcast to the current shape.</summary>
    private static readonly Dictionary<string, (Type Shape, Func<object, AccountEvent> Upcast)> Former = new(StringComparer.Ordinal)
    {
        [CreditLimitChangedV1.Name] = (typeof(CreditLimitChangedV1), old => ((CreditLimitChangedV1)old).Upcast()),
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
        options.Events.Upcast<CreditLimitChangedV1, CreditLimitChanged>(CreditLimitChangedV1.Name, old => old.Upcast());
        options.UseSystemTextJsonForSerialization(
            configure: json =>
            {
                json.TypeInfoResolver = JsonTypeInfoResolver.Combine(EventJson.Default, new DefaultJsonTypeInfoResolver());
                // Optional fields without a value are left out: a payment without timing is stored as before timing existed.
                json.DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull;
            });
    }

    /// <summary>Reads a stored event, in whatever shape it was written.</summary>
    /// <exception cref="InvalidOperationException">This version of the program does not know the event's type.</exception>
    public static AccountEvent Read(string type, ReadOnlySpan<byte> json)
    {
        if (Types.TryGetValue(type, out var shape))
        {
            return (AccountEvent)Read(json, shape);
        }
        return Former.TryGetValue(type, out var former)
            ? former.Upcast(Read(json, former.Shape))
            : throw new InvalidOperationException($"The event store holds an event of the unknown type '{type}'.");
    }

    /// <summary>Serialises an event for the store: its name, its .NET type as Marten writes it, and its JSON.</summary>
    internal static (string Type, string DotnetType, string Json) Write(AccountEvent fact)
    {
        var (type, dotnetType) = Names[fact.GetType()];
        return (type, dotnetType, JsonSerializer.Serialize(fact, EventJson.Default.GetTypeInfo(fact.GetType())!));
    }

    private static object Read(ReadOnlySpan<byte> json, Type shape) =>
        JsonSerializer.Deserialize(json, EventJson.Default.GetTypeInfo(shape)!)!;
}

/// <summary>Serialises events without reflection. Optional fields without a value are left out: a payment without timing is
/// stored as before timing existed.</summary>
[JsonSourceGenerationOptions(DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(PaymentAccepted))]
[JsonSerializable(typeof(PaymentDeclined))]
[JsonSerializable(typeof(CreditLimitChanged))]
[JsonSerializable(typeof(CreditLimitChangedV1))]
internal sealed partial class EventJson : JsonSerializerContext;
