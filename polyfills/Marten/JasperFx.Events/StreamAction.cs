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

    public IReadOnlyList<IEvent> Events => _events;

    public long? ExpectedVersionOnServer { get; set; }

    public StreamAction AddEvents(IReadOnlyList<IEvent> events)
    {
        ArgumentNullException.ThrowIfNull(events);
        foreach (var @event in events)
        {
            @event.Id = @event.Id == Guid.Empty ? Guid.CreateVersion7() : @event.Id;
            @event.StreamKey = Key;
            _events.Add(@event);
        }

        return this;
    }
}
