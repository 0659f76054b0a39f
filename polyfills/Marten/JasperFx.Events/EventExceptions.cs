namespace JasperFx.Events;

public class EventStreamUnexpectedMaxEventIdException : ConcurrencyException
{
    public EventStreamUnexpectedMaxEventIdException(object? id, Type? aggregateType, long expected, long actual)
        : base(
            $"The event stream '{id}' was expected to be at version {expected}, and is at version {actual}",
            aggregateType,
            id)
    {
        AggregateType = aggregateType;
    }

    public EventStreamUnexpectedMaxEventIdException(string message)
        : base(message)
    {
    }

    public Type? AggregateType { get; }
}

public class EmptyEventStreamException : Exception
{
    public EmptyEventStreamException(string key)
        : base($"The event stream '{key}' cannot be started without an event")
    {
    }
}
