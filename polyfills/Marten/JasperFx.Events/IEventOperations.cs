namespace JasperFx.Events;

public interface IEventOperations
{
    /// <remarks>The expected version is that of the stream once these events are in it.</remarks>
    public StreamAction Append(string stream, long expectedVersion, params object[] events);

    public StreamAction StartStream(string streamKey, params object[] events);
}

public interface IQueryEventStore
{
    public Task<IReadOnlyList<IEvent>> FetchStreamAsync(
        string streamKey,
        long version = 0,
        DateTimeOffset? timestamp = null,
        long fromVersion = 0,
        CancellationToken token = default);
}

public interface IEventStoreOperations : IEventOperations, IQueryEventStore
{
}
