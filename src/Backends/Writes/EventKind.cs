using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Billing.Backends.Domain;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Backends.Writes;

/// <summary>A kind of event: its names, and how it is converted to and from the wire contract and the store.
/// The conversions leave out what all events have in common.</summary>
internal abstract class EventKind
{
    /// <summary>The name under which it is stored. It includes the version of the event's shape
    /// and is never reused.</summary>
    public required string Name { get; init; }

    /// <summary>The outcome of the command that it records, in the metric <c>billing.commands</c>.</summary>
    public required string Outcome { get; init; }

    public required Event.FactOneofCase Field { get; init; }

    public required StatementEntryType EntryType { get; init; }

    /// <summary>How events are read that are stored under another name of the kind (docs/storage.md, The shape of an
    /// event).</summary>
    public IReadOnlyList<Upcast> Upcasts { get; init; } = [];

    /// <summary>All names under which its events are stored.</summary>
    public IEnumerable<string> Names => Upcasts.Select(upcast => upcast.Name).Prepend(Name);

    public abstract Type Shape { get; }

    /// <summary>The name of that type as Marten writes it.</summary>
    public abstract string DotnetType { get; }

    public abstract void Write(AccountEvent fact, Event recorded);

    /// <summary>Reads it from a wire event; null if no backend would have written such an event.</summary>
    public abstract AccountEvent? Read(Event recorded, CommonParts common);

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

    public required Func<Event, CommonParts, T?> ToDomain { get; init; }

    public required Action<T, StatementEntry> ToEntry { get; init; }

    public override Type Shape => typeof(T);

    public override string DotnetType { get; } = $"{typeof(T).FullName}, {typeof(T).Assembly.GetName().Name}";

    public override void Write(AccountEvent fact, Event recorded) => ToWire((T)fact, recorded);

    public override AccountEvent? Read(Event recorded, CommonParts common) => ToDomain(recorded, common);

    public override void Write(AccountEvent fact, StatementEntry entry) => ToEntry((T)fact, entry);

    public override void WriteJson(AccountEvent fact, Utf8JsonWriter writer) =>
        JsonSerializer.Serialize(writer, (T)fact, json);

    public override AccountEvent FromJson(ReadOnlySpan<byte> stored) => JsonSerializer.Deserialize(stored, _stored)!;
}

/// <summary>What every event has, as a wire event states it.</summary>
/// <param name="TransactionId">The idempotency key of the command that caused it.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="Balance">What the account owes after it.</param>
internal readonly record struct CommonParts(Guid TransactionId, DateTimeOffset DecidedAt, decimal Balance);

/// <summary>How an event of another shape is read as one of the kind's own shape.</summary>
/// <param name="Name">The name under which it is stored.</param>
/// <param name="FromJson">Reads it.</param>
internal sealed record Upcast(string Name, Func<ReadOnlySpan<byte>, AccountEvent> FromJson)
{
    /// <summary>Reads the shape as strictly as the kind's own, and converts it.</summary>
    public static Upcast Of<TStored, T>(string name, JsonTypeInfo<TStored> json, Func<TStored, T> convert)
        where T : AccountEvent
    {
        var strict = StoredJson.Of(json);
        return new(name, stored => convert(JsonSerializer.Deserialize(stored, strict)!));
    }
}

/// <summary>How stored events are read: strictly. An event with a member that this program does not know says something
/// that it does not know either, so it must not decide what comes next.</summary>
internal static class StoredJson
{
    /// <summary>Reads a type as another reader does, but refuses what lacks a member, or has one that the type does not
    /// have. The hash of the event, which no type has, is passed over.</summary>
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
