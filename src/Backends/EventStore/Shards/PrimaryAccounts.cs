using System.Collections.Concurrent;
using Billing.Backends.Domain;
using Billing.Messaging;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.EventStore.Shards;

/// <summary>The accounts of one database, on whichever of its servers is the primary: every call is made by
/// <see cref="StoreServers.UseAsync"/>, so that no caller has to think of it.</summary>
internal sealed class PrimaryAccounts(string name, StoreServers servers, IOptions<EventStoreOptions> options)
    : IAccountStore
{
    private readonly ConcurrentDictionary<NpgsqlDataSource, AccountStore> _stores = [];

    public string Name => name;

    public Task<Dictionary<string, Account>> LoadAsync(
        string[] streamIds, Account opened, CancellationToken cancellationToken) =>
        UseAsync((store, token) => store.LoadAsync(streamIds, opened, token), cancellationToken);

    public Task<IReadOnlyDictionary<int, long>> HeldShardsAsync(CancellationToken cancellationToken) =>
        UseAsync((store, token) => store.HeldShardsAsync(token), cancellationToken);

    public Task<string[]> ListAsync(string after, int limit, CancellationToken cancellationToken) =>
        UseAsync((store, token) => store.ListAsync(after, limit, token), cancellationToken);

    public Task<Dictionary<CommandId, Wire.V1.Event>> FindReceiptsAsync(
        IReadOnlyCollection<CommandId> commands, Fence fence, CancellationToken cancellationToken) =>
        UseAsync((store, token) => store.FindReceiptsAsync(commands, fence, token), cancellationToken);

    public Task<Dictionary<CommandId, Wire.V1.Event>> ConfirmAsync(
        IReadOnlyCollection<CommandId> commands, IReadOnlyDictionary<string, long> versions, Fence fence,
        CancellationToken cancellationToken) =>
        UseAsync((store, token) => store.ConfirmAsync(commands, versions, fence, token), cancellationToken);

    public Task<Dictionary<CommandId, PaymentFollowUp>> LastFollowUpsAsync(
        IReadOnlyCollection<CommandId> payments, CancellationToken cancellationToken) =>
        UseAsync((store, token) => store.LastFollowUpsAsync(payments, token), cancellationToken);

    public Task<IReadOnlyList<CommandId>> TakeDueHoldsAsync(
        DateTimeOffset now, int limit, CancellationToken cancellationToken) =>
        UseAsync((store, token) => store.TakeDueHoldsAsync(now, limit, token), cancellationToken);

    public Task<Dictionary<CommandId, Wire.V1.Event>> CloseAsync(
        IReadOnlyCollection<(CommandId Id, Sender? By)> commands, Fence fence, CancellationToken cancellationToken) =>
        UseAsync((store, token) => store.CloseAsync(commands, fence, token), cancellationToken);

    public Task<Dictionary<SourcePartition, long>> BeginEpochsAsync(
        IReadOnlyCollection<PartitionEpoch> owned, Guid owner, CancellationToken cancellationToken) =>
        UseAsync((store, token) => store.BeginEpochsAsync(owned, owner, token), cancellationToken);

    public Task AppendAsync(
        IReadOnlyList<NewEvent> batch, Fence fence, CancellationToken cancellationToken) => UseAsync(
        async (store, token) =>
        {
            await store.AppendAsync(batch, fence, token);
            return true;
        },
        cancellationToken);

    /// <summary>The accounts on a server, which is the primary.</summary>
    public AccountStore On(NpgsqlDataSource primary) => _stores.GetOrAdd(
        primary, static (primary, own) => new AccountStore(own.Name, primary, own.Servers.AreSeveral, own.Options),
        (Name: name, Servers: servers, Options: options));

    private Task<T> UseAsync<T>(
        Func<AccountStore, CancellationToken, Task<T>> use, CancellationToken cancellationToken) =>
        servers.UseAsync((primary, token) => use(On(primary), token), cancellationToken);
}
