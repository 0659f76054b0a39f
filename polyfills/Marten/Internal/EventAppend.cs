using JasperFx.Events;
using Marten.Exceptions;
using Npgsql;
using NpgsqlTypes;

namespace Marten.Internal;

/// <summary>
/// Writes all events of a session with at most four statements, whatever their number: new streams, streams with an
/// expected version, streams without one, events.
/// </summary>
internal sealed class EventAppend
{
    private readonly EventSql _sql;
    private readonly List<Step> _steps = new(4);
    private readonly List<StreamAction> _started = [];
    private readonly List<StreamAction> _expected = [];
    private readonly List<StreamAction> _unchecked = [];
    private readonly IReadOnlyList<StreamAction> _streams;
    private readonly int _eventCount;
    private int _stepsDone;

    public EventAppend(EventSql sql, IReadOnlyList<StreamAction> streams)
    {
        _sql = sql;
        _streams = streams;
        foreach (var stream in streams)
        {
            _eventCount += stream.Events.Count;
            if (stream.ActionType == StreamActionType.Start || stream.ExpectedVersionOnServer == 0)
            {
                _started.Add(stream);
            }
            else
            {
                (stream.ExpectedVersionOnServer is null ? _unchecked : _expected).Add(stream);
            }
        }
    }

    private enum Step
    {
        InsertStreams,
        MoveStreams,
        PutStreams,
        InsertEvents,
    }

    public void AddTo(NpgsqlBatch batch, JsonDocuments json, DateTimeOffset timestamp)
    {
        if (_started.Count > 0)
        {
            var sql = _started.Count == 1 ? _sql.InsertStream : _sql.InsertStreams;
            Add(batch, Step.InsertStreams, sql, Ids(_started), Types(_started), Counts(_started));
        }

        if (_expected.Count > 0)
        {
            var before = Array(_expected, NpgsqlDbType.Bigint, stream => stream.ExpectedVersionOnServer!.Value);
            var after = Array(
                _expected,
                NpgsqlDbType.Bigint,
                stream => stream.ExpectedVersionOnServer!.Value + stream.Events.Count);
            var sql = _expected.Count == 1 ? _sql.MoveStream : _sql.MoveStreams;
            Add(batch, Step.MoveStreams, sql, Ids(_expected), before, after);
        }

        if (_unchecked.Count > 0)
        {
            Add(batch, Step.PutStreams, _sql.PutStreams, Ids(_unchecked), Types(_unchecked), Counts(_unchecked));
        }

        var insert = _unchecked.Count > 0 ? _sql.InsertEventsAfterPut : _sql.InsertEvents;
        Add(batch, Step.InsertEvents, insert, EventParameters(json, timestamp));
    }

    /// <summary>Reads what the statements of <see cref="AddTo"/> return, and stops at the next statement's.</summary>
    public async Task ReadAsync(NpgsqlDataReader reader, CancellationToken token)
    {
        foreach (var step in _steps)
        {
            if (step == Step.InsertEvents)
            {
                await ReadEventsAsync(reader, token).ConfigureAwait(false);
            }

            // Whatever fails from here on is a later statement.
            _stepsDone++;
            await reader.NextResultAsync(token).ConfigureAwait(false);
        }
    }

    /// <summary>What the failure means where it is a conflict over a stream, else null.</summary>
    public async Task<Exception?> ExplainAsync(PostgresException failure, NpgsqlConnection connection)
    {
        if (_stepsDone == _steps.Count)
        {
            return null;
        }

        return (_steps[_stepsDone], failure.SqlState) switch
        {
            (Step.InsertStreams, PostgresErrorCodes.UniqueViolation) => await FindTakenAsync(connection)
                .ConfigureAwait(false),
            (Step.MoveStreams, PostgresErrorCodes.DivisionByZero) => await FindStaleAsync(connection)
                .ConfigureAwait(false),
            (Step.InsertEvents, PostgresErrorCodes.UniqueViolation) =>
                new EventStreamUnexpectedMaxEventIdException(failure.MessageText),
            _ => null,
        };
    }

    private static NpgsqlParameter<string[]> Ids(List<StreamAction> streams)
        => Array(streams, NpgsqlDbType.Varchar, stream => stream.Key!);

    private static NpgsqlParameter<string?[]> Types(List<StreamAction> streams)
        => Array(streams, NpgsqlDbType.Varchar, stream => stream.AggregateTypeName);

    private static NpgsqlParameter<long[]> Counts(List<StreamAction> streams)
        => Array(streams, NpgsqlDbType.Bigint, stream => (long)stream.Events.Count);

    private static NpgsqlParameter<T[]> Array<T>(
        List<StreamAction> streams,
        NpgsqlDbType type,
        Func<StreamAction, T> value)
    {
        var values = new T[streams.Count];
        for (var i = 0; i < values.Length; i++)
        {
            values[i] = value(streams[i]);
        }

        return Array(values, type);
    }

    private static NpgsqlParameter<T[]> Array<T>(T[] values, NpgsqlDbType type)
        => new() { TypedValue = values, NpgsqlDbType = NpgsqlDbType.Array | type };

    private void Add(NpgsqlBatch batch, Step step, string sql, params ReadOnlySpan<NpgsqlParameter> parameters)
    {
        var command = new NpgsqlBatchCommand(sql);
        foreach (var parameter in parameters)
        {
            command.Parameters.Add(parameter);
        }

        batch.BatchCommands.Add(command);
        _steps.Add(step);
    }

    private NpgsqlParameter[] EventParameters(JsonDocuments json, DateTimeOffset timestamp)
    {
        var ids = new Guid[_eventCount];
        var streamIds = new string[_eventCount];
        var positions = new long[_eventCount];
        var data = new byte[_eventCount][];
        var types = new string[_eventCount];
        var dotNetTypes = new string[_eventCount];
        var index = 0;
        foreach (var stream in _streams)
        {
            for (var i = 0; i < stream.Events.Count; i++, index++)
            {
                var @event = stream.Events[i];
                ids[index] = @event.Id;
                streamIds[index] = stream.Key!;
                positions[index] = Position(stream, i);
                data[index] = json.ToUtf8(@event.Data);
                types[index] = @event.EventTypeName;
                dotNetTypes[index] = @event.DotNetTypeName;
            }
        }

        List<NpgsqlParameter> parameters =
        [
            new NpgsqlParameter<DateTimeOffset> { TypedValue = timestamp, NpgsqlDbType = NpgsqlDbType.TimestampTz },
            Array(ids, NpgsqlDbType.Uuid),
            Array(streamIds, NpgsqlDbType.Varchar),
            Array(positions, NpgsqlDbType.Bigint),
            Array(data, NpgsqlDbType.Jsonb),
            Array(types, NpgsqlDbType.Varchar),
            Array(dotNetTypes, NpgsqlDbType.Varchar),
        ];
        parameters.AddRange(_sql.Metadata.Select(column => MetadataParameter(column.Name, json)));
        return [.. parameters];
    }

    private long Position(StreamAction stream, int index)
        => _unchecked.Count > 0
            ? stream.Events.Count - 1 - index
            : (stream.ExpectedVersionOnServer ?? 0) + index + 1;

    private NpgsqlParameter MetadataParameter(string column, JsonDocuments json)
    {
        var events = _streams.SelectMany(stream => stream.Events);
        return column switch
        {
            "correlation_id" => Array(events.Select(e => e.CorrelationId).ToArray(), NpgsqlDbType.Varchar),
            "causation_id" => Array(events.Select(e => e.CausationId).ToArray(), NpgsqlDbType.Varchar),
            "user_name" => Array(events.Select(e => e.UserName).ToArray(), NpgsqlDbType.Varchar),
            _ => Array(events.Select(e => json.ToUtf8(e.Headers ?? [])).ToArray(), NpgsqlDbType.Jsonb),
        };
    }

    private async Task ReadEventsAsync(NpgsqlDataReader reader, CancellationToken token)
    {
        foreach (var stream in _streams)
        {
            foreach (var @event in stream.Events)
            {
                await reader.ReadAsync(token).ConfigureAwait(false);
                @event.Sequence = reader.GetInt64(0);
                @event.Version = reader.GetInt64(1);
                @event.Timestamp = reader.GetFieldValue<DateTimeOffset>(2);
            }

            stream.Version = stream.Events[^1].Version;
        }
    }

    private async Task<Exception> FindTakenAsync(NpgsqlConnection connection)
    {
        var versions = await ReadVersionsAsync(connection, _started).ConfigureAwait(false);

        // A stream that is not there was started twice by this very session.
        var stream = _started.FirstOrDefault(candidate => versions.ContainsKey(candidate.Key!))
            ?? _started.GroupBy(candidate => candidate.Key).FirstOrDefault(same => same.Count() > 1)?.Last()
            ?? _started[0];
        return stream.ActionType == StreamActionType.Start
            ? new ExistingStreamIdCollisionException(stream.Key!, stream.AggregateType)
            : Stale(stream, versions);
    }

    private async Task<Exception> FindStaleAsync(NpgsqlConnection connection)
    {
        var versions = await ReadVersionsAsync(connection, _expected).ConfigureAwait(false);
        var stream = _expected.FirstOrDefault(
            candidate => versions.GetValueOrDefault(candidate.Key!) != candidate.ExpectedVersionOnServer);
        return Stale(stream ?? _expected[0], versions);
    }

    private static EventStreamUnexpectedMaxEventIdException Stale(
        StreamAction stream,
        Dictionary<string, long> versions)
        => new(
            stream.Key,
            stream.AggregateType,
            stream.ExpectedVersionOnServer!.Value,
            versions.GetValueOrDefault(stream.Key!));

    private async Task<Dictionary<string, long>> ReadVersionsAsync(
        NpgsqlConnection connection,
        List<StreamAction> streams)
    {
        await using var command = new NpgsqlCommand(_sql.Versions, connection);
        command.Parameters.Add(Ids(streams));
        var reader = await command.ExecuteReaderAsync(CancellationToken.None).ConfigureAwait(false);
        await using (reader.ConfigureAwait(false))
        {
            Dictionary<string, long> versions = new(StringComparer.Ordinal);
            while (await reader.ReadAsync(CancellationToken.None).ConfigureAwait(false))
            {
                versions[reader.GetString(0)] = reader.GetInt64(1);
            }

            return versions;
        }
    }
}
