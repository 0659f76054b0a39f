using JasperFx.Events;
using Marten.Internal;

namespace Marten.Events;

/// <summary>How one name of an event in the database becomes an event, and back.</summary>
internal abstract class EventMapping(Type eventType, string eventTypeName)
{
    public Type EventType { get; } = eventType;

    public string EventTypeName { get; set; } = eventTypeName;

    public string DotNetTypeName { get; } = TypeNames.DotNetName(eventType);

    public static EventMapping For(Type eventType)
        => (EventMapping)Activator.CreateInstance(typeof(EventMapping<>).MakeGenericType(eventType))!;

    public abstract IEvent Wrap(object data);

    public abstract IEvent Read(JsonDocuments json, ReadOnlySpan<byte> data);
}

internal sealed class EventMapping<T>() : EventMapping(typeof(T), TypeNames.SnakeCase(typeof(T)))
    where T : notnull
{
    public override IEvent Wrap(object data) => Wrap((T)data);

    public override IEvent Read(JsonDocuments json, ReadOnlySpan<byte> data) => Wrap(json.FromUtf8<T>(data));

    private Event<T> Wrap(T data)
        => new(data) { EventTypeName = EventTypeName, DotNetTypeName = DotNetTypeName };
}

/// <summary>Reads what is stored under an old name as an event of today. Never used to write.</summary>
internal sealed class UpcastMapping<TOldEvent, TEvent>(string eventTypeName, Func<TOldEvent, TEvent> upcast)
    : EventMapping(typeof(TEvent), eventTypeName)
    where TOldEvent : class
    where TEvent : class
{
    public override IEvent Wrap(object data) => throw new NotSupportedException("An upcast only reads");

    public override IEvent Read(JsonDocuments json, ReadOnlySpan<byte> data)
        => new Event<TEvent>(upcast(json.FromUtf8<TOldEvent>(data)))
        {
            EventTypeName = EventTypeName,
            DotNetTypeName = DotNetTypeName,
        };
}
