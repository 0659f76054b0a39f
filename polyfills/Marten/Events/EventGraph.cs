using System.Collections.Concurrent;
using JasperFx.Events;
using Marten.Exceptions;

namespace Marten.Events;

/// <summary>The settings of the event store and the names of its events.</summary>
internal sealed class EventGraph : IEventStoreOptions
{
    private readonly ConcurrentDictionary<Type, EventMapping> _byType = new();
    private readonly ConcurrentDictionary<string, EventMapping> _byName = new(StringComparer.Ordinal);

    public StreamIdentity StreamIdentity { get; set; } = StreamIdentity.AsGuid;

    public EventAppendMode AppendMode { get; set; } = EventAppendMode.Quick;

    /// <summary>Whether the store was told of any event, so that its tables belong to the schema.</summary>
    public bool IsActive => !_byType.IsEmpty || !_byName.IsEmpty;

    public void MapEventType<TEvent>(string eventTypeName)
        where TEvent : class
        => MapEventType(typeof(TEvent), eventTypeName);

    public void MapEventType(Type eventType, string eventTypeName)
    {
        var mapping = MappingFor(eventType);
        _byName.TryRemove(KeyValuePair.Create(mapping.EventTypeName, mapping));
        mapping.EventTypeName = eventTypeName;
        _byName[eventTypeName] = mapping;
    }

    public IEventStoreOptions Upcast<TOldEvent, TEvent>(string eventTypeName, Func<TOldEvent, TEvent> upcast)
        where TOldEvent : class
        where TEvent : class
    {
        _byName[eventTypeName] = new UpcastMapping<TOldEvent, TEvent>(eventTypeName, upcast);
        return this;
    }

    public EventMapping MappingFor(Type eventType)
    {
        if (_byType.TryGetValue(eventType, out var known))
        {
            return known;
        }

        var mapping = _byType.GetOrAdd(eventType, EventMapping.For);
        _byName.TryAdd(mapping.EventTypeName, mapping);
        return mapping;
    }

    public EventMapping MappingFor(string eventTypeName)
        => _byName.GetValueOrDefault(eventTypeName) ?? throw new UnknownEventTypeException(eventTypeName);

    public void AssertStringIdentity()
    {
        if (StreamIdentity != StreamIdentity.AsString)
        {
            throw new InvalidOperationException("Streams are identified by strings here");
        }
    }
}
