using Google.Protobuf;
using Npgsql;

namespace Billing.Backends.EventStore;

/// <summary>The receipts of a store that an earlier release has made: a table with each transaction id and the event that answered it,
/// empty for an id that is closed. As long as there is the table, repeated commands of that time are answered from it, and backends of
/// that release, which find nothing elsewhere, may run beside this one, so it is written to as well. New stores have no such table.
/// </summary>
internal sealed class FormerReceipts(StoreServers servers, string schema)
{
    private readonly string _table = EventStoreSchema.FormerReceipts(schema);
    private bool? _isThere;

    /// <summary>Notes that the table may have been dropped.</summary>
    public void AskAgain() => _isThere = null;

    /// <summary>Adds the receipts of commands to those that were found otherwise.</summary>
    public async Task FindAsync(
        IReadOnlyCollection<CommandId> commands, Dictionary<CommandId, Wire.V1.Event> found, CancellationToken cancellationToken)
    {
        if (!await AreThereAsync(cancellationToken))
        {
            return;
        }
        await using var command = servers.Primary.CreateCommand($"select transaction_id, event from {_table} where transaction_id = any($1)");
        command.Parameters.Add(AccountStore.Values(commands.Select(c => c.TransactionId).ToArray()));
        var receipts = new Dictionary<Guid, Wire.V1.Event>();
        try
        {
            await using var rows = await command.ExecuteReaderAsync(cancellationToken);
            while (await rows.ReadAsync(cancellationToken))
            {
                receipts.Add(rows.GetGuid(0), Wire.V1.Event.Parser.ParseFrom(rows.GetFieldValue<byte[]>(1)));
            }
        }
        catch (PostgresException e) when (e.SqlState == PostgresErrorCodes.UndefinedTable)
        {
            AskAgain();
            return;
        }
        foreach (var id in commands)
        {
            // An id was closed without its account.
            if (receipts.TryGetValue(id.TransactionId, out var receipt) && (receipt.StreamId == id.StreamId || receipt.StreamId.Length == 0))
            {
                found.TryAdd(id, receipt);
            }
        }
    }

    /// <summary>The statement that adds receipts; null if there is no table.</summary>
    public async ValueTask<NpgsqlBatchCommand?> AddAsync(
        IEnumerable<(Guid TransactionId, Wire.V1.Event Recorded)> receipts, CancellationToken cancellationToken)
    {
        if (!await AreThereAsync(cancellationToken))
        {
            return null;
        }
        var added = receipts.ToList();
        return new NpgsqlBatchCommand(
            $"insert into {_table} (transaction_id, event) select * from unnest($1, $2) as a(id, event) order by id on conflict do nothing")
        {
            Parameters =
            {
                AccountStore.Values(added.Select(a => a.TransactionId).ToArray()),
                AccountStore.Values(added.Select(a => a.Recorded.ToByteArray()).ToArray()),
            },
        };
    }

    private async ValueTask<bool> AreThereAsync(CancellationToken cancellationToken)
    {
        if (_isThere is not { } isThere)
        {
            // By its name in the catalogue: to_regclass fails for a role that may not use the schema.
            await using var question = servers.Primary.CreateCommand(
                "select exists (select from pg_class where relnamespace = to_regnamespace($1) and relname = $2)");
            question.Parameters.AddWithValue(schema);
            question.Parameters.AddWithValue(EventStoreSchema.FormerReceiptsTable);
            _isThere = isThere = await question.ExecuteScalarAsync(cancellationToken) is true;
        }
        return isThere;
    }
}
