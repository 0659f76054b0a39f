namespace Marten.Exceptions;

public class ExistingStreamIdCollisionException : MartenException
{
    public ExistingStreamIdCollisionException(object id, Type? aggregateType)
        : base($"There is a stream #{id} in the database already")
    {
        Id = id;
        AggregateType = aggregateType;
    }

    public object Id { get; }

    public Type? AggregateType { get; }
}

public class UnknownEventTypeException : MartenException
{
    public UnknownEventTypeException(string eventTypeName)
        : base($"No event type is known as '{eventTypeName}'; register it with StoreOptions.Events.AddEventType")
    {
        EventTypeName = eventTypeName;
    }

    public string EventTypeName { get; }
}
