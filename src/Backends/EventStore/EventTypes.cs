using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.Backends.Domain;
using Billing.Backends.Writes;
using JasperFx.Events;
using Marten;

namespace Billing.Backends.EventStore;

/// <summary>The names under which events are stored, and their JSON. Stored events are never rewritten, so every former shape can be
/// read, and is upcast to the current one.</summary>
public static class EventTypes
{
    /// <summary>The stream of Marten's tombstones. After a failed save, Marten stores a tombstone event under each sequence
    /// number that the save had taken, so that the numbers have no holes; the stream's version stays 0. Queries over all
    /// streams or all events have to exclude this stream.</summary>
    public const string TombstoneStream = "mt_tombstone";

    private static readonly Dictionary<string, EventKind> Kinds = WriteKinds.Events.ToDictionary(kind => kind.Name, StringComparer.Ordinal);

    private static readonly Dictionary<string, FormerShape> Former =
        WriteKinds.Events.SelectMany(kind => kind.Former).ToDictionary(shape => shape.Name, StringComparer.Ordinal);

    /// <summary>The names of the events that set an account's credit limit, the present one first.</summary>
    internal static IReadOnlyList<string> CreditLimits { get; } =
    [
        .. WriteKinds.Events.Where(kind => kind.Shape == typeof(CreditLimitChanged))
            .SelectMany(kind => (string[])[kind.Name, .. kind.Former.Select(shape => shape.Name)]),
    ];

    /// <summary>Tells Marten how and where events are stored.</summary>
    internal static void Configure(StoreOptions options, string schema)
    {
        options.DatabaseSchemaName = schema;
        options.DisableNpgsqlLogging = true;
        options.Events.StreamIdentity = StreamIdentity.AsString;
        options.Events.AppendMode = EventAppendMode.Quick;
        options.Events.IgnoreIndex(EventStoreSchema.OneEventForEachCommand);
        options.Events.IgnoreIndex(EventStoreSchema.CreditLimitEvents);
        options.Events.IgnoreIndex(EventStoreSchema.FollowUpEvents);
        options.Events.IgnoreIndex(EventStoreSchema.EventsByTime);
        foreach (var (name, kind) in Kinds)
        {
            options.Events.MapEventType(kind.Shape, name);
        }
        foreach (var shape in Former.Values)
        {
            shape.Register(options);
        }
        // As appends do it: optional fields without a value are left out.
        options.UseSystemTextJsonForSerialization(configure: json => json.DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull);
    }

    /// <summary>Reads a stored event, in whatever shape it was written.</summary>
    /// <exception cref="UnknownEventTypeException">This version of the program does not know the event's type, or one of its members.</exception>
    internal static AccountEvent Read(string type, ReadOnlySpan<byte> json)
    {
        try
        {
            return Kinds.TryGetValue(type, out var kind) ? kind.FromJson(json)
                : Former.TryGetValue(type, out var former) ? former.FromJson(json)
                : throw new UnknownEventTypeException(type);
        }
        catch (JsonException e)
        {
            throw new UnknownEventTypeException(type, e.Message);
        }
    }
}

/// <summary>The event store holds an event of a type, or with a member, that this version of the program does not know: a newer version has written
/// it, and can read it.</summary>
/// <param name="type">The event's type.</param>
/// <param name="why">What is wrong with its contents; null if its type is not known.</param>
public sealed class UnknownEventTypeException(string type, string? why = null) : Exception(why is null
    ? $"The event store holds an event of the type '{type}', which a newer version of this program has written; upgrade this one."
    : $"The event store holds an event of the type '{type}' as this version of the program does not write it; if a newer one has, upgrade this one. {why}");
