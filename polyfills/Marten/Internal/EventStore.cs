using JasperFx.Events;
using Marten.Events;
using Npgsql;
using NpgsqlTypes;

namespace Marten.Internal;

/// <summary>The events of one session: what it reads, and what it will write.</summary>
internal sealed class EventStore(QuerySession session) : Events.IEventStoreOperations
{
    private readonly EventGraph _graph = session.Owner.Options.EventGraph;
    private readonly List<StreamAction> _streams = [];
    private readonly Dictionary<string, StreamAction> _byKey = new(StringComparer.Ordinal);

    public IReadOnlyList<StreamAction> Pending => _streams;

    public void Reset()
    {
        _streams.Clear();
        _byKey.Clear();
    }

    public StreamAction Append(string stream, IEnumerable<object> events) => Append(stream, events.ToArray());

    public StreamAction Append(string stream, params object[] events)
    {
        var wrapped = Wrap(stream, events);
        if (_byKey.TryGetValue(stream, out var action))
        {
            return action.AddEvents(wrapped);
        }

        return Track(new StreamAction(stream, StreamActionType.Append).AddEvents(wrapped));
    }

    public StreamAction Append(string stream, long expectedVersion, IEnumerable<object> events)
        => Append(stream, expectedVersion, events.ToArray());

    public StreamAction Append(string stream, long expectedVersion, params object[] events)
    {
        var action = Append(stream, events);
        action.ExpectedVersionOnServer = expectedVersion - action.Events.Count;
        return action;
    }

    public StreamAction StartStream<TAggregate>(string streamKey, IEnumerable<object> events)
        where TAggregate : class
        => StartStream<TAggregate>(streamKey, events.ToArray());

    public StreamAction StartStream<TAggregate>(string streamKey, params object[] events)
        where TAggregate : class
        => Tag(StartStream(streamKey, events), typeof(TAggregate));

    public StreamAction StartStream(Type aggregateType, string streamKey, IEnumerable<object> events)
        => StartStream(aggregateType, streamKey, events.ToArray());

    public StreamAction StartStream(Type aggregateType, string streamKey, params object[] events)
        => Tag(StartStream(streamKey, events), aggregateType);

    public StreamAction StartStream(string streamKey, IEnumerable<object> events)
        => StartStream(streamKey, events.ToArray());

    public StreamAction StartStream(string streamKey, params object[] events)
    {
        var wrapped = Wrap(streamKey, events);
        if (wrapped.Length == 0)
        {
            throw new EmptyEventStreamException(streamKey);
        }

        return Track(new StreamAction(streamKey, StreamActionType.Start).AddEvents(wrapped));
    }

    public Task<IReadOnlyList<IEvent>> FetchStreamAsync(
        string streamKey,
        long version = 0,
        DateTimeOffset? timestamp = null,
        long fromVersion = 0,
        CancellationToken token = default)
    {
        _graph.AssertStringIdentity();
        var command = new NpgsqlCommand(session.Owner.EventSql.FetchStream);
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = streamKey });
        command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = version });
        command.Parameters.Add(new NpgsqlParameter
        {
            Value = timestamp is { } last ? last.ToUniversalTime() : DBNull.Value,
            NpgsqlDbType = NpgsqlDbType.TimestampTz,
        });
        command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = fromVersion });
        return session.ReadAsync(
            session.Owner.Schema.EnsureEventsAsync(token),
            command,
            async (reader, cancellation) =>
            {
                List<IEvent> events = [];
                while (await reader.ReadAsync(cancellation).ConfigureAwait(false))
                {
                    events.Add(ReadEvent(reader, streamKey));
                }

                return (IReadOnlyList<IEvent>)events;
            },
            token);
    }

    public Task<StreamState?> FetchStreamStateAsync(string streamKey, CancellationToken token = default)
    {
        _graph.AssertStringIdentity();
        var command = new NpgsqlCommand(session.Owner.EventSql.FetchState);
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = streamKey });
        return session.ReadAsync(
            session.Owner.Schema.EnsureEventsAsync(token),
            command,
            async (reader, cancellation) => await reader.ReadAsync(cancellation).ConfigureAwait(false)
                ? ReadState(reader, streamKey)
                : null,
            token);
    }

    private static string? NullableString(NpgsqlDataReader reader, int ordinal)
        => reader.IsDBNull(ordinal) ? null : reader.GetString(ordinal);

    private StreamState ReadState(NpgsqlDataReader reader, string streamKey)
        => new(
            streamKey,
            reader.GetInt64(0),
            _graph.AggregateTypeFor(NullableString(reader, 1)),
            reader.GetFieldValue<DateTimeOffset>(2),
            reader.GetFieldValue<DateTimeOffset>(3))
        {
            IsArchived = !reader.IsDBNull(4) && reader.GetBoolean(4),
        };

    private IEvent ReadEvent(NpgsqlDataReader reader, string streamKey)
    {
        var mapping = _graph.MappingFor(reader.GetString(4), NullableString(reader, 6));
        var @event = mapping.Read(session.Owner.Options.Json, reader.GetFieldValue<byte[]>(3));
        @event.Sequence = reader.GetInt64(0);
        @event.Id = reader.GetGuid(1);
        @event.Version = reader.GetInt64(2);
        @event.Timestamp = reader.GetFieldValue<DateTimeOffset>(5);
        @event.TenantId = NullableString(reader, 7) ?? TypeNames.DefaultTenant;
        @event.IsArchived = !reader.IsDBNull(8) && reader.GetBoolean(8);
        @event.StreamKey = streamKey;
        ReadMetadata(reader, @event);
        return @event;
    }

    private void ReadMetadata(NpgsqlDataReader reader, IEvent @event)
    {
        var ordinal = 9;
        foreach (var (name, _) in session.Owner.EventSql.Metadata)
        {
            switch (name)
            {
                case "correlation_id":
                    @event.CorrelationId = NullableString(reader, ordinal);
                    break;
                case "causation_id":
                    @event.CausationId = NullableString(reader, ordinal);
                    break;
                case "user_name":
                    @event.UserName = NullableString(reader, ordinal);
                    break;
                default:
                    @event.Headers = reader.IsDBNull(ordinal)
                        ? null
                        : JsonDocuments.HeadersFromUtf8(reader.GetFieldValue<byte[]>(ordinal));
                    break;
            }

            ordinal++;
        }
    }

    private StreamAction Tag(StreamAction action, Type aggregateType)
    {
        action.AggregateType = aggregateType;
        action.AggregateTypeName = _graph.AggregateNameFor(aggregateType);
        return action;
    }

    private IEvent[] Wrap(string stream, object[] events)
    {
        _graph.AssertStringIdentity();
        ArgumentException.ThrowIfNullOrEmpty(stream);
        ArgumentNullException.ThrowIfNull(events);
        return System.Array.ConvertAll(events, _graph.BuildEvent);
    }

    private StreamAction Track(StreamAction action)
    {
        _streams.Add(action);
        _byKey[action.Key!] = action;
        return action;
    }
}
