using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using JasperFx.Events;
using Marten.Exceptions;
using Marten.Internal;

namespace Marten.Events;

/// <summary>The settings of the event store and the names of its events.</summary>
internal sealed class EventGraph(StoreOptions options) : IEventStoreOptions, IReadOnlyEventStoreOptions
{
    private readonly ConcurrentDictionary<Type, EventMapping> _byType = new();
    private readonly ConcurrentDictionary<string, EventMapping> _byName = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, EventMapping> _byDotNetName = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, Type> _aggregates = new(StringComparer.Ordinal);
    private string? _databaseSchemaName;

    public StreamIdentity StreamIdentity { get; set; } = StreamIdentity.AsGuid;

    public EventAppendMode AppendMode { get; set; } = EventAppendMode.Quick;

    public TimeProvider TimeProvider { get; set; } = TimeProvider.System;

    public MetadataConfig MetadataConfig { get; } = new();

    public string DatabaseSchemaName
    {
        get => _databaseSchemaName ?? options.DatabaseSchemaName;
        [SuppressMessage("Globalization", "CA1308", Justification = "PostgreSQL folds names to lower case.")]
        set => _databaseSchemaName = value?.ToLowerInvariant();
    }

    /// <summary>Whether the store was told of any event, so that its tables belong to the schema.</summary>
    public bool IsActive => !_byType.IsEmpty || !_byName.IsEmpty;

    public IEventStoreOptions AddEventType<TEvent>()
    {
        MappingFor(typeof(TEvent));
        return this;
    }

    public void AddEventType(Type eventType) => MappingFor(eventType);

    public void AddEventTypes(IEnumerable<Type> types)
    {
        foreach (var type in types)
        {
            MappingFor(type);
        }
    }

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

    public IEventStoreOptions Upcast<TOldEvent, TEvent>(Func<TOldEvent, TEvent> upcast)
        where TOldEvent : class
        where TEvent : class
        => Upcast(TypeNames.SnakeCase(typeof(TOldEvent)), upcast);

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

    public IEvent BuildEvent(object data)
    {
        ArgumentNullException.ThrowIfNull(data);
        if (data is not IEvent wrapped)
        {
            return MappingFor(data.GetType()).Wrap(data);
        }

        var mapping = MappingFor(wrapped.EventType);
        wrapped.EventTypeName = mapping.EventTypeName;
        wrapped.DotNetTypeName = mapping.DotNetTypeName;
        return wrapped;
    }

    public EventMapping MappingFor(string eventTypeName, string? dotNetTypeName)
    {
        if (_byName.TryGetValue(eventTypeName, out var mapping))
        {
            return mapping;
        }

        if (dotNetTypeName is null)
        {
            throw new UnknownEventTypeException(eventTypeName);
        }

        return _byDotNetName.GetOrAdd(
            dotNetTypeName,
            static (name, graph) => graph.MappingFor(Type.GetType(name) ?? throw new UnknownEventTypeException(name)),
            this);
    }

    public string AggregateNameFor(Type aggregateType)
    {
        var name = TypeNames.SnakeCase(aggregateType);
        _aggregates.TryAdd(name, aggregateType);
        return name;
    }

    public Type? AggregateTypeFor(string? name) => name is null ? null : _aggregates.GetValueOrDefault(name);

    public void AssertStringIdentity()
    {
        if (StreamIdentity != StreamIdentity.AsString)
        {
            throw new InvalidOperationException("This event store is configured to identify its streams by Guid");
        }
    }
}
