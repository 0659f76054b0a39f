using JasperFx.Events;
using Npgsql;
using NpgsqlTypes;

namespace Marten.Internal;

/// <summary>
/// Fills the sequence numbers that a failed save had taken, behind the caller's back and one save at a time, with events
/// that mean nothing, so that whoever follows the numbers does not wait for them.
/// </summary>
internal sealed class Tombstones(NpgsqlDataSource dataSource, EventSql sql)
{
    private readonly Lock _gate = new();
    private Task _last = Task.CompletedTask;

    public void Post(IEnumerable<StreamAction> streams)
    {
        // A number that is not known yet is zero.
        long[] sequences = [.. streams.SelectMany(s => s.Events).Select(e => e.Sequence).Where(s => s != 0)];
        lock (_gate)
        {
            _last = WriteAsync(_last, sequences);
        }
    }

    public Task DrainAsync()
    {
        lock (_gate)
        {
            return _last;
        }
    }

    private async Task WriteAsync(Task before, long[] sequences)
    {
        await before.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        try
        {
            await using var batch = dataSource.CreateBatch();
            batch.BatchCommands.Add(new NpgsqlBatchCommand(sql.EstablishTombstoneStream));
            var insert = new NpgsqlBatchCommand(sql.InsertTombstones);
            insert.Parameters.Add(new NpgsqlParameter<long[]>
            {
                TypedValue = sequences,
                NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Bigint,
            });
            insert.Parameters.Add(new NpgsqlParameter<Guid[]>
            {
                TypedValue = Array.ConvertAll(sequences, _ => Guid.CreateVersion7()),
                NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Uuid,
            });
            batch.BatchCommands.Add(insert);
            await batch.ExecuteNonQueryAsync().ConfigureAwait(false);
        }
        catch (Exception e) when (e is NpgsqlException or ObjectDisposedException)
        {
            // Nobody waits for it. A commit that was taken for failed has used the numbers itself.
        }
    }
}
