using JasperFx.Events;

namespace Marten.Events;

public interface IEventStoreOptions
{
    public StreamIdentity StreamIdentity { get; set; }

    public EventAppendMode AppendMode { get; set; }

    public string DatabaseSchemaName { get; set; }

    public TimeProvider TimeProvider { get; set; }

    public MetadataConfig MetadataConfig { get; }

    public IEventStoreOptions AddEventType<TEvent>();

    public void AddEventType(Type eventType);

    public void AddEventTypes(IEnumerable<Type> types);

    public void MapEventType<TEvent>(string eventTypeName)
        where TEvent : class;

    public void MapEventType(Type eventType, string eventTypeName);

    public IEventStoreOptions Upcast<TOldEvent, TEvent>(string eventTypeName, Func<TOldEvent, TEvent> upcast)
        where TOldEvent : class
        where TEvent : class;

    public IEventStoreOptions Upcast<TOldEvent, TEvent>(Func<TOldEvent, TEvent> upcast)
        where TOldEvent : class
        where TEvent : class;
}

public interface IReadOnlyEventStoreOptions
{
    public StreamIdentity StreamIdentity { get; }

    public EventAppendMode AppendMode { get; set; }

    public string DatabaseSchemaName { get; }
}

public class MetadataConfig
{
    internal MetadataConfig()
    {
    }

    public bool CausationIdEnabled { get; set; }

    public bool CorrelationIdEnabled { get; set; }

    public bool HeadersEnabled { get; set; }

    public bool UserNameEnabled { get; set; }

    public void EnableAll()
    {
        CausationIdEnabled = true;
        CorrelationIdEnabled = true;
        HeadersEnabled = true;
        UserNameEnabled = true;
    }
}
