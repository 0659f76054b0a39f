using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Billing.Backends.Domain;
using Billing.V1;
using Billing.Wire.V1;
using Marten;

namespace Billing.Backends.Writes;

/// <summary>A kind of event: its names, and how it is converted to and from the wire contract and the store. The conversions leave out
/// what all events have in common.</summary>
internal abstract class EventKind
{
    /// <summary>The name under which it is stored. It includes the version of the event's shape and is never reused.</summary>
    public required string Name { get; init; }

    /// <summary>The outcome of the command that it records, in the metric <c>billing.commands</c>.</summary>
    public required string Outcome { get; init; }

    public required Event.FactOneofCase Field { get; init; }

    public required StatementEntryType EntryType { get; init; }

    /// <summary>Shapes in which it is no longer written.</summary>
    public IReadOnlyList<FormerShape> Former { get; init; } = [];

    public abstract Type Shape { get; }

    /// <summary>The name of that type as Marten writes it.</summary>
    public abstract string DotnetType { get; }

    public abstract void Write(AccountEvent fact, Event recorded);

    /// <summary>Reads it from a wire event; null if no backend would have written such an event.</summary>
    public abstract AccountEvent? Read(Event recorded, Guid transactionId, DateTimeOffset decidedAt);

    public abstract void Write(AccountEvent fact, StatementEntry entry);

    /// <summary>Writes it for the store.</summary>
    public abstract void WriteJson(AccountEvent fact, Utf8JsonWriter writer);

    public abstract AccountEvent FromJson(ReadOnlySpan<byte> json);
}

internal sealed class EventKind<T>(JsonTypeInfo<T> json) : EventKind
    where T : AccountEvent
{
    private readonly JsonTypeInfo<T> _stored = StoredJson.Of(json);

    public required Action<T, Event> ToWire { get; init; }

    public required Func<Event, Guid, DateTimeOffset, T?> ToDomain { get; init; }

    public required Action<T, StatementEntry> ToEntry { get; init; }

    public override Type Shape => typeof(T);

    public override string DotnetType { get; } = $"{typeof(T).FullName}, {typeof(T).Assembly.GetName().Name}";

    public override void Write(AccountEvent fact, Event recorded) => ToWire((T)fact, recorded);

    public override AccountEvent? Read(Event recorded, Guid transactionId, DateTimeOffset decidedAt) =>
        ToDomain(recorded, transactionId, decidedAt);

    public override void Write(AccountEvent fact, StatementEntry entry) => ToEntry((T)fact, entry);

    public override void WriteJson(AccountEvent fact, Utf8JsonWriter writer) => JsonSerializer.Serialize(writer, (T)fact, json);

    public override AccountEvent FromJson(ReadOnlySpan<byte> stored) => JsonSerializer.Deserialize(stored, _stored)!;
}

/// <summary>A shape of an event that is no longer written, and is upcast to the current one when it is read.</summary>
internal sealed record FormerShape(string Name, Action<StoreOptions> Register, Func<ReadOnlySpan<byte>, AccountEvent> FromJson)
{
    public static FormerShape Of<TOld, T>(string name, JsonTypeInfo<TOld> json, Func<TOld, T> upcast)
        where TOld : class
        where T : AccountEvent
    {
        var strict = StoredJson.Of(json);
        return new(name, options => options.Events.Upcast(name, upcast), stored => upcast(JsonSerializer.Deserialize(stored, strict)!));
    }
}

/// <summary>How stored events are read: strictly. An event with a member that this program does not know says something that it does not know either,
/// so it must not decide what comes next.</summary>
internal static class StoredJson
{
    /// <summary>Reads a type as another reader does, but refuses what lacks a member, or has one that the type does not have. The hash of the event, which
    /// no type has, is passed over.</summary>
    public static JsonTypeInfo<T> Of<T>(JsonTypeInfo<T> json)
    {
        var options = new JsonSerializerOptions(json.Options)
        {
            TypeInfoResolver = json.OriginatingResolver!.WithAddedModifier(Add),
            UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
            RespectRequiredConstructorParameters = true,
        };
        return (JsonTypeInfo<T>)options.GetTypeInfo(typeof(T));

        static void Add(JsonTypeInfo type)
        {
            if (type.Type == typeof(T))
            {
                var hash = type.CreateJsonPropertyInfo(typeof(string), EventChain.Member);
                hash.Set = (_, _) => { };
                type.Properties.Add(hash);
            }
        }
    }
}
