using Billing.Backends.Domain;
using Npgsql;

namespace Billing.Backends.EventStore.Shards;

/// <summary>Reads accounts from whichever database each of them is in. A read from a database that turns out not to
/// hold a shard fails as one from a database that is away, so that it is tried again. The database is asked for its
/// shards after the read, so that what is told was true when the read began or later.</summary>
internal sealed class ShardedReader(ShardMap map) : IAccountReader
{
    /// <inheritdoc/>
    public async Task<Dictionary<string, Account>> LoadAsync(
        string[] streamIds, Account opened, CancellationToken cancellationToken)
    {
        var parts = await Task.WhenAll((await ByDatabaseAsync(streamIds)).Select(part => ReadAsync(
            part.Key, [.. part], token => map.Databases[part.Key].LoadAsync([.. part], opened, token),
            cancellationToken)));
        // A view of millions of accounts has no use for their hashes.
        return parts.SelectMany(part => part)
            .ToDictionary(part => part.Key, part => part.Value with { Head = null }, StringComparer.Ordinal);
    }

    /// <summary>Reads something of an account from the database that holds it.</summary>
    /// <param name="streamId">The account.</param>
    /// <param name="read">Reads it from the database of this index.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    public async Task<T> ReadAsync<T>(
        string streamId, Func<int, CancellationToken, Task<T>> read, CancellationToken cancellationToken)
    {
        var database = (await ByDatabaseAsync([streamId])).Single().Key;
        return await ReadAsync(database, [streamId], token => read(database, token), cancellationToken);
    }

    private async Task<T> ReadAsync<T>(
        int database, IEnumerable<string> streamIds,
        Func<CancellationToken, Task<T>> read, CancellationToken cancellationToken)
    {
        var shards = Shard.Of(streamIds);
        var epochs = shards.ToDictionary(shard => shard, map.EpochOf);
        T result;
        try
        {
            result = await read(cancellationToken);
        }
        catch (Exception e) when (EventStoreFailure.ShardsElsewhere(e) is { } elsewhere)
        {
            await map.RefreshAsync();
            throw Away(elsewhere.First());
        }
        // After the read: what the database holds now, and under the same number as before, it held then.
        var held = await map.Databases[database].HeldShardsAsync(cancellationToken);
        var moved = Array.FindAll(shards, shard => !held.TryGetValue(shard, out var epoch) || epoch != epochs[shard]);
        if (moved.Length > 0)
        {
            await map.RefreshAsync();
            throw Away(moved[0]);
        }
        return result;
    }

    private async Task<ILookup<int, string>> ByDatabaseAsync(string[] streamIds)
    {
        var byDatabase = ByDatabase(streamIds);
        if (byDatabase.Contains(ShardMap.Nowhere))
        {
            await map.RefreshAsync();
            byDatabase = ByDatabase(streamIds);
        }
        return byDatabase.Contains(ShardMap.Nowhere)
            ? throw Away(Shard.Of(byDatabase[ShardMap.Nowhere].First()))
            : byDatabase;
    }

    private ILookup<int, string> ByDatabase(string[] streamIds) => streamIds.ToLookup(id => map.Find(Shard.Of(id)));

    private static NpgsqlException Away(int shard) => new($"No database that answers holds shard {shard}.");
}
