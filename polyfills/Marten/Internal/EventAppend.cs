using JasperFx.Events;
using Marten.Exceptions;
using Npgsql;
using NpgsqlTypes;

namespace Marten.Internal;

/// <summary>
/// Writes all events of a session with at most three statements, whatever their number: new streams, streams with an
/// expected version, events.
/// </summary>
internal sealed class EventAppend
{
    private readonly EventSql _sql;
    private readonly EventAppendMode _mode;
    private readonly List<Step> _steps = new(3);
    private readonly List<StreamAction> _started = [];
    private readonly List<StreamAction> _moved = [];
    private readonly IReadOnlyList<StreamAction> _streams;
    private int _stepsDone;

    public EventAppend(EventSql sql, EventAppendMode mode, IReadOnlyList<StreamAction> streams)
    {
        _sql = sql;
        _mode = mode;
        _streams = streams;
        foreach (var stream in streams)
        {
            (Before(stream) == 0 ? _started : _moved).Add(stream);
        }
    }

    private enum Step
    {
        InsertStreams,
        MoveStreams,
        InsertEvents,
    }

    public void AddTo(NpgsqlBatch batch, JsonDocuments json)
    {
        if (_started.Count > 0)
        {
            var sql = _started.Count == 1 ? _sql.InsertStream : _sql.InsertStreams;
            Add(batch, Step.InsertStreams, sql, Ids(_started), Versions(_started, After));
        }

        if (_moved.Count > 0)
        {
            var sql = _moved.Count == 1 ? _sql.MoveStream : _sql.MoveStreams;
            Add(batch, Step.MoveStreams, sql, Ids(_moved), Versions(_moved, Before), Versions(_moved, After));
        }

        Add(batch, Step.InsertEvents, _sql.InsertEvents, EventParameters(json));
    }

    /// <summary>Reads what the statements of <see cref="AddTo"/> return, and stops at the next statement's.</summary>
    public async Task ReadAsync(NpgsqlDataReader reader, CancellationToken token)
    {
        foreach (var step in _steps)
        {
            if (step == Step.InsertEvents)
            {
                await ReadSequencesAsync(reader, token).ConfigureAwait(false);
            }

            // Whatever fails from here on is a later statement.
            _stepsDone++;
            await reader.NextResultAsync(token).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// What the failure means where it is a conflict over a stream, else null. As in the genuine library, the stream
    /// named is the first of its kind in the session, whichever was in the way.
    /// </summary>
    public Exception? Explain(PostgresException failure)
    {
        if (_stepsDone == _steps.Count)
        {
            return null;
        }

        return (_steps[_stepsDone], failure.SqlState) switch
        {
            (Step.InsertStreams, PostgresErrorCodes.UniqueViolation) =>
                _started.Find(stream => stream.ActionType == StreamActionType.Start) is { } started
                    ? new ExistingStreamIdCollisionException(started.Key!, null)
                    : Stale(_started[0]),
            (Step.MoveStreams, PostgresErrorCodes.DivisionByZero) => Stale(_moved[0]),
            (Step.InsertEvents, PostgresErrorCodes.UniqueViolation)
                when failure.ConstraintName == "pk_mt_events_stream_and_version" =>
                new EventStreamUnexpectedMaxEventIdException(failure.MessageText),
            _ => null,
        };
    }

    // The genuine library does not learn the numbers of a stream that it starts, so these get no tombstones.
    private async Task ReadSequencesAsync(NpgsqlDataReader reader, CancellationToken token)
    {
        foreach (var stream in _streams)
        {
            foreach (var @event in stream.Events)
            {
                await reader.ReadAsync(token).ConfigureAwait(false);
                @event.Sequence = stream.ActionType == StreamActionType.Append ? reader.GetInt64(0) : 0;
            }
        }
    }

    private static EventStreamUnexpectedMaxEventIdException Stale(StreamAction stream)
        => new(stream.Key, null, Before(stream), -1);

    private static long Before(StreamAction stream) => stream.ExpectedVersionOnServer ?? 0;

    private static long After(StreamAction stream) => Before(stream) + stream.Events.Count;

    private static NpgsqlParameter<string[]> Ids(List<StreamAction> streams)
        => Array([.. streams.Select(stream => stream.Key!)], NpgsqlDbType.Varchar);

    private static NpgsqlParameter<long[]> Versions(List<StreamAction> streams, Func<StreamAction, long> version)
        => Array([.. streams.Select(version)], NpgsqlDbType.Bigint);

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

    private NpgsqlParameter[] EventParameters(JsonDocuments json)
    {
        var count = _streams.Sum(stream => stream.Events.Count);
        var (ids, streamIds, versions) = (new Guid[count], new string[count], new long[count]);
        var (data, types, dotNetTypes) = (new byte[count][], new string[count], new string[count]);
        var timestamps = new DateTimeOffset?[count];
        var now = TimeProvider.System.GetUtcNow();
        var index = 0;
        foreach (var stream in _streams)
        {
            var version = Before(stream);
            foreach (var @event in stream.Events)
            {
                @event.Version = ++version;
                ids[index] = @event.Id;
                streamIds[index] = stream.Key!;
                versions[index] = version;
                data[index] = json.ToUtf8(@event.Data);
                types[index] = @event.EventTypeName;
                dotNetTypes[index] = @event.DotNetTypeName;
                timestamps[index++] = IsTimedByDatabase(stream) ? null : now;
            }
        }

        return
        [
            Array(ids, NpgsqlDbType.Uuid),
            Array(streamIds, NpgsqlDbType.Varchar),
            Array(versions, NpgsqlDbType.Bigint),
            Array(data, NpgsqlDbType.Jsonb),
            Array(types, NpgsqlDbType.Varchar),
            Array(dotNetTypes, NpgsqlDbType.Varchar),
            Array(timestamps, NpgsqlDbType.TimestampTz),
        ];
    }

    private bool IsTimedByDatabase(StreamAction stream)
        => _mode == EventAppendMode.Quick && stream.ActionType == StreamActionType.Append;
}
