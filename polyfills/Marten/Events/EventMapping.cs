using JasperFx.Events;
using Marten.Internal;

namespace Marten.Events;

/// <summary>How one name of an event in the database becomes an event, and back.</summary>
internal abstract class EventMapping(Type eventType, string eventTypeName)
{
    public string EventTypeName { get; set; } = eventTypeName;

    public string DotNetTypeName { get; } = TypeNames.DotNetName(eventType);

    public static EventMapping For(Type eventType)
        => (EventMapping)Activator.CreateInstance(typeof(EventMapping<>).MakeGenericType(eventType))!;

    public StoredEvent Wrap(object data)
        => new(data) { EventTypeName = EventTypeName, DotNetTypeName = DotNetTypeName };

    public abstract StoredEvent Read(JsonDocuments json, ReadOnlySpan<byte> data);
}

internal sealed class EventMapping<T>() : EventMapping(typeof(T), TypeNames.SnakeCase(typeof(T)))
    where T : notnull
{
    public override StoredEvent Read(JsonDocuments json, ReadOnlySpan<byte> data) => Wrap(json.FromUtf8<T>(data));
}

/// <summary>Reads what is stored under an old name as an event of today. Never used to write.</summary>
internal sealed class UpcastMapping<TOldEvent, TEvent>(string eventTypeName, Func<TOldEvent, TEvent> upcast)
    : EventMapping(typeof(TEvent), eventTypeName)
    where TOldEvent : class
    where TEvent : class
{
    public override StoredEvent Read(JsonDocuments json, ReadOnlySpan<byte> data)
        => Wrap(upcast(json.FromUtf8<TOldEvent>(data)));
}
