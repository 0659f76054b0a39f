namespace JasperFx.Events;

public interface IEventOperations
{
    public StreamAction Append(string stream, IEnumerable<object> events);

    public StreamAction Append(string stream, params object[] events);

    /// <remarks>The expected version is that of the stream once these events are in it.</remarks>
    public StreamAction Append(string stream, long expectedVersion, IEnumerable<object> events);

    /// <remarks>The expected version is that of the stream once these events are in it.</remarks>
    public StreamAction Append(string stream, long expectedVersion, params object[] events);

    public StreamAction StartStream<TAggregate>(string streamKey, IEnumerable<object> events)
        where TAggregate : class;

    public StreamAction StartStream<TAggregate>(string streamKey, params object[] events)
        where TAggregate : class;

    public StreamAction StartStream(Type aggregateType, string streamKey, IEnumerable<object> events);

    public StreamAction StartStream(Type aggregateType, string streamKey, params object[] events);

    public StreamAction StartStream(string streamKey, IEnumerable<object> events);

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

    public Task<StreamState?> FetchStreamStateAsync(string streamKey, CancellationToken token = default);
}

public interface IEventStoreOperations : IEventOperations, IQueryEventStore
{
}
