using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Wire.V1;
using Npgsql;

namespace Billing.Backends.Balances;

/// <summary>Reads accounts as they were, and statements, from the primary of a database,
/// whichever of its servers that is.</summary>
/// <param name="servers">The servers of the database.</param>
/// <param name="accounts">Its accounts.</param>
/// <param name="schema">Its schema.</param>
/// <param name="opened">The state of an account without events.</param>
internal sealed class PrimaryReads(StoreServers servers, PrimaryAccounts accounts, string schema, Account opened)
    : IAccountHistory, IStatementReader
{
    public Task<PastAccount> AtAsync(string streamId, long version, CancellationToken cancellationToken) =>
        servers.UseAsync((primary, token) => History(primary).AtAsync(streamId, version, token), cancellationToken);

    public Task<PastAccount> AtAsync(string streamId, DateTimeOffset time, CancellationToken cancellationToken) =>
        servers.UseAsync((primary, token) => History(primary).AtAsync(streamId, time, token), cancellationToken);

    public Task<StatementPage> ReadAsync(StatementPageRequest request, CancellationToken cancellationToken) =>
        servers.UseAsync(
            (primary, token) =>
                new StatementReader(primary, accounts.On(primary), History(primary), schema, opened)
                    .ReadAsync(request, token),
            cancellationToken);

    private AccountHistory History(NpgsqlDataSource primary) => new(primary, schema, opened);
}
