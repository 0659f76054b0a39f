using JasperFx.Events;

namespace Marten.Events;

public interface IEventOperations : JasperFx.Events.IEventOperations
{
}

public interface IQueryEventStore : JasperFx.Events.IQueryEventStore
{
}

public interface IEventStoreOperations : JasperFx.Events.IEventStoreOperations, IEventOperations, IQueryEventStore
{
}

public interface IEventStoreOptions
{
    public StreamIdentity StreamIdentity { get; set; }

    public EventAppendMode AppendMode { get; set; }

    public void MapEventType<TEvent>(string eventTypeName)
        where TEvent : class;

    public void MapEventType(Type eventType, string eventTypeName);

    public IEventStoreOptions Upcast<TOldEvent, TEvent>(string eventTypeName, Func<TOldEvent, TEvent> upcast)
        where TOldEvent : class
        where TEvent : class;
}
