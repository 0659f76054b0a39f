namespace JasperFx.Events;

public interface IEvent
{
    public Guid Id { get; set; }

    public long Version { get; set; }

    public long Sequence { get; set; }

    public object Data { get; }

    public Guid StreamId { get; set; }

    public string? StreamKey { get; set; }

    public DateTimeOffset Timestamp { get; set; }

    public string TenantId { get; set; }

    public Type EventType { get; }

    public string EventTypeName { get; set; }

    public string DotNetTypeName { get; set; }

    public string? CausationId { get; set; }

    public string? CorrelationId { get; set; }

    public Dictionary<string, object>? Headers { get; set; }

    public string? UserName { get; set; }

    public bool IsArchived { get; set; }

    public void SetHeader(string key, object value);

    public object? GetHeader(string key);
}

public interface IEvent<out T> : IEvent
    where T : notnull
{
    public new T Data { get; }
}

public class Event<T> : IEvent<T>
    where T : notnull
{
    public Event(T data)
    {
        Data = data;
    }

    public T Data { get; set; }

    object IEvent.Data => Data;

    public Guid Id { get; set; }

    public long Version { get; set; }

    public long Sequence { get; set; }

    public Guid StreamId { get; set; }

    public string? StreamKey { get; set; }

    public DateTimeOffset Timestamp { get; set; }

    public string TenantId { get; set; } = "*DEFAULT*";

    public Type EventType => typeof(T);

    public string EventTypeName { get; set; } = null!;

    public string DotNetTypeName { get; set; } = null!;

    public string? CausationId { get; set; }

    public string? CorrelationId { get; set; }

    public Dictionary<string, object>? Headers { get; set; }

    public string? UserName { get; set; }

    public bool IsArchived { get; set; }

    public void SetHeader(string key, object value)
    {
        Headers ??= [];
        Headers[key] = value;
    }

    public object? GetHeader(string key) => Headers?.GetValueOrDefault(key);
}
