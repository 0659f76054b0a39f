namespace JasperFx.Events;

public interface IEvent
{
    public Guid Id { get; set; }

    public long Version { get; set; }

    public long Sequence { get; set; }

    public object Data { get; }

    public string? StreamKey { get; set; }

    public DateTimeOffset Timestamp { get; set; }

    public string TenantId { get; set; }

    public Type EventType { get; }

    public string EventTypeName { get; set; }

    public string DotNetTypeName { get; set; }
}

/// <summary>The genuine library's is a public class for each type of event.</summary>
internal sealed class StoredEvent(object data) : IEvent
{
    public object Data { get; } = data;

    public Guid Id { get; set; }

    public long Version { get; set; }

    public long Sequence { get; set; }

    public string? StreamKey { get; set; }

    public DateTimeOffset Timestamp { get; set; }

    public string TenantId { get; set; } = "*DEFAULT*";

    public Type EventType => Data.GetType();

    public string EventTypeName { get; set; } = "";

    public string DotNetTypeName { get; set; } = "";
}
