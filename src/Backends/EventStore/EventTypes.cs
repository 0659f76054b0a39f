using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.Backends.Domain;
using Billing.Backends.Writes;
using JasperFx.Events;
using Marten;

namespace Billing.Backends.EventStore;

/// <summary>The names under which events are stored, and their JSON.</summary>
public static class EventTypes
{
    /// <summary>The stream of Marten's tombstones. After a failed save, Marten stores a tombstone event under each
    /// sequence number that the save had taken, so that the numbers have no holes; the stream's version stays 0.
    /// Queries over all streams or all events have to exclude this stream.</summary>
    public const string TombstoneStream = "mt_tombstone";

    private static readonly StoredEventReader Reader = new(WriteKinds.Events);

    /// <summary>The name of the events that set an account's credit limit.</summary>
    internal static string CreditLimit { get; } =
        WriteKinds.Events.Single(kind => kind.Shape == typeof(CreditLimitChanged)).Name;

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
        foreach (var kind in WriteKinds.Events)
        {
            options.Events.MapEventType(kind.Shape, kind.Name);
        }
        // As appends do it: optional fields without a value are left out.
        options.UseSystemTextJsonForSerialization(
            configure: json => json.DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull);
    }

    /// <summary>Reads a stored event.</summary>
    /// <exception cref="UnknownEventTypeException">This version of the program does not know the event's type,
    /// or one of its members; or it lacks one.</exception>
    internal static AccountEvent Read(string type, ReadOnlySpan<byte> json) => Reader.Read(type, json);

    /// <summary>Reads the limit that a stored event has set.</summary>
    /// <exception cref="UnknownEventTypeException">As <see cref="Read"/>.</exception>
    internal static decimal ReadLimit(string type, ReadOnlySpan<byte> json) =>
        ((CreditLimitChanged)Read(type, json)).Limit;
}

/// <summary>Reads stored events of some kinds.</summary>
/// <param name="kinds">The kinds.</param>
internal sealed class StoredEventReader(IEnumerable<EventKind> kinds)
{
    private readonly Dictionary<string, Upcast> _names = kinds
        .SelectMany(kind => kind.Upcasts.Prepend(new Upcast(kind.Name, kind.FromJson)))
        .ToDictionary(named => named.Name, StringComparer.Ordinal);

    /// <summary>Reads an event as one of its kind's own shape.</summary>
    /// <exception cref="UnknownEventTypeException">None of the kinds has this name, or the event has not the
    /// members of its shape.</exception>
    public AccountEvent Read(string type, ReadOnlySpan<byte> json)
    {
        try
        {
            return _names.TryGetValue(type, out var named)
                ? named.FromJson(json)
                : throw new UnknownEventTypeException(type);
        }
        catch (JsonException e)
        {
            throw new UnknownEventTypeException(type, e.Message);
        }
    }
}

/// <summary>The event store holds an event of a type, or with a member, that this version of the program does not know:
/// a newer version has written it, and can read it.</summary>
/// <param name="type">The event's type.</param>
/// <param name="why">What is wrong with its contents; null if its type is not known.</param>
public sealed class UnknownEventTypeException(string type, string? why = null) : Exception(why is null
    ? $"The event store holds an event of the type '{type}', which a newer version of this program has written; "
        + "upgrade this one."
    : $"The event store holds an event of the type '{type}' as this version of the program does not write it; "
        + $"if a newer one has, upgrade this one. {why}");
