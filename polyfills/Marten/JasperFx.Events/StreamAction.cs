namespace JasperFx.Events;

public class StreamAction
{
    private readonly List<IEvent> _events = [];

    public StreamAction(string stream, StreamActionType actionType)
    {
        Key = stream;
        ActionType = actionType;
    }

    public string? Key { get; }

    public StreamActionType ActionType { get; }

    public Type? AggregateType { get; set; }

    public string? AggregateTypeName { get; internal set; }

    public string TenantId { get; set; } = "*DEFAULT*";

    public IReadOnlyList<IEvent> Events => _events;

    public long? ExpectedVersionOnServer { get; set; }

    public long Version { get; set; }

    public StreamAction AddEvent(IEvent @event)
    {
        ArgumentNullException.ThrowIfNull(@event);
        if (@event.Id == Guid.Empty)
        {
            @event.Id = Guid.CreateVersion7();
        }

        @event.StreamKey = Key;
        _events.Add(@event);
        return this;
    }

    public StreamAction AddEvents(IReadOnlyList<IEvent> events)
    {
        ArgumentNullException.ThrowIfNull(events);
        _events.EnsureCapacity(_events.Count + events.Count);
        foreach (var @event in events)
        {
            AddEvent(@event);
        }

        return this;
    }
}
