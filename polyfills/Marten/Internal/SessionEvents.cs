using JasperFx.Events;
using Marten.Events;
using Marten.Exceptions;
using Npgsql;
using NpgsqlTypes;

namespace Marten.Internal;

/// <summary>The events of one session: what it reads, and what it will write.</summary>
internal sealed class SessionEvents(DocumentStore store) : Events.IEventStoreOperations
{
    private readonly EventGraph _graph = store.Options.EventGraph;
    private readonly List<StreamAction> _streams = [];
    private readonly HashSet<string> _keys = new(StringComparer.Ordinal);

    public IReadOnlyList<StreamAction> Pending => _streams;

    public void Reset()
    {
        _streams.Clear();
        _keys.Clear();
    }

    public StreamAction Append(string stream, long expectedVersion, params object[] events)
    {
        var action = Track(stream, StreamActionType.Append, events);
        action.ExpectedVersionOnServer = expectedVersion - action.Events.Count;
        return action;
    }

    public StreamAction StartStream(string streamKey, params object[] events)
    {
        ArgumentNullException.ThrowIfNull(events);
        return events.Length == 0
            ? throw new EmptyEventStreamException(streamKey)
            : Track(streamKey, StreamActionType.Start, events);
    }

    public async Task<IReadOnlyList<IEvent>> FetchStreamAsync(
        string streamKey,
        long version = 0,
        DateTimeOffset? timestamp = null,
        long fromVersion = 0,
        CancellationToken token = default)
    {
        _graph.AssertStringIdentity();
        await store.Schema.EnsureEventsAsync(token).ConfigureAwait(false);
        await using var command = store.DataSource.CreateCommand(store.EventSql.FetchStream);
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = streamKey });
        command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = version });
        command.Parameters.Add(new NpgsqlParameter
        {
            Value = timestamp is { } last ? last.ToUniversalTime() : DBNull.Value,
            NpgsqlDbType = NpgsqlDbType.TimestampTz,
        });
        command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = fromVersion });
        try
        {
            List<IEvent> events = [];
            var reader = await command.ExecuteReaderAsync(token).ConfigureAwait(false);
            await using (reader.ConfigureAwait(false))
            {
                while (await reader.ReadAsync(token).ConfigureAwait(false))
                {
                    events.Add(Read(reader, streamKey));
                }
            }

            return events;
        }
        catch (NpgsqlException failure)
        {
            throw new MartenCommandException(command, failure);
        }
    }

    private StoredEvent Read(NpgsqlDataReader reader, string streamKey)
    {
        var mapping = _graph.MappingFor(reader.GetString(4));
        var stored = mapping.Read(store.Options.Json, reader.GetFieldValue<byte[]>(3));
        stored.Sequence = reader.GetInt64(0);
        stored.Id = reader.GetGuid(1);
        stored.Version = reader.GetInt64(2);
        stored.Timestamp = reader.GetFieldValue<DateTimeOffset>(5);
        stored.TenantId = reader.IsDBNull(6) ? TypeNames.DefaultTenant : reader.GetString(6);
        stored.StreamKey = streamKey;
        return stored;
    }

    private StreamAction Track(string stream, StreamActionType type, object[] events)
    {
        _graph.AssertStringIdentity();
        ArgumentException.ThrowIfNullOrEmpty(stream);
        ArgumentNullException.ThrowIfNull(events);
        if (!_keys.Add(stream))
        {
            throw new NotSupportedException($"A session takes one append to a stream here; '{stream}' has one already");
        }

        var action = new StreamAction(stream, type);
        action.AddEvents(Array.ConvertAll(events, data => _graph.MappingFor(data.GetType()).Wrap(data)));
        _streams.Add(action);
        return action;
    }
}
