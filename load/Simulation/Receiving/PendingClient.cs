using Billing.Simulation.Store;
using Billing.Webhooks;

namespace Billing.Simulation.Receiving;

/// <summary>The tables of the webhook service as one process sees them.</summary>
internal sealed class PendingClient(Node node, StoreServer server, PendingTables tables) : IPendingEvents
{
    public Task EnsureAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task AddAsync(IReadOnlyList<PendingEvent> events, CancellationToken cancellationToken) =>
        ChangeAsync(events.Select(pending => (pending.Receiver, pending.StreamId)), () =>
        {
            tables.Add(events);
            return true;
        });

    // Accounts whose rows are locked are passed over, and not waited for.
    public Task<List<ClaimedAccount>> ClaimAsync(
        string receiver, Guid claim, TimeSpan lease, int limit, CancellationToken cancellationToken) =>
        ChangeAsync(
            [],
            () => tables.Claim(receiver, claim, lease, limit, streamId => server.IsLocked(Key(receiver, streamId))));

    public Task<List<string>> SettleAsync(
        string receiver, Guid claim, IReadOnlyList<DeliveryOutcome> outcomes, CancellationToken cancellationToken)
    {
        // As they are now: the caller changes its list, and the statement may be executed later.
        var sent = outcomes.ToList();
        return ChangeAsync(
            sent.Select(outcome => (receiver, outcome.StreamId)), () => tables.Settle(receiver, claim, sent));
    }

    public Task<IReadOnlyList<ReceiverState>> StatesAsync(CancellationToken cancellationToken) =>
        server.AskAsync(node, new StoreRequest(Writes: false), _ => tables.States());

    private Task<T> ChangeAsync<T>(IEnumerable<(string Receiver, string StreamId)> accounts, Func<T> change) =>
        server.AskAsync(
            node,
            new StoreRequest(Writes: true)
            {
                Streams = [.. accounts.Select(account => Key(account.Receiver, account.StreamId)).Distinct()],
            },
            _ => change());

    private static string Key(string receiver, string streamId) => receiver + ' ' + streamId;
}
