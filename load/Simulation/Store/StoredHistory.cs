using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Wire.V1;
using CreditLimitChanged = Billing.Backends.Domain.CreditLimitChanged;

namespace Billing.Simulation.Store;

/// <summary>Accounts as they were, and statements, from a database as one process sees it.
/// It stands for the SQL that reads them.</summary>
/// <param name="node">The process.</param>
/// <param name="server">The database.</param>
/// <param name="opened">The state of an account without events.</param>
internal sealed class StoredHistory(Node node, StoreServer server, Account opened) : IAccountHistory, IStatementReader
{
    public Task<PastAccount> AtAsync(string streamId, long version, CancellationToken cancellationToken) =>
        ReadAsync(
            streamId,
            events => version > events.Count ? new PastAccount(null, End: events.Count) : At(events, version));

    public Task<PastAccount> AtAsync(string streamId, DateTimeOffset time, CancellationToken cancellationToken) =>
        ReadAsync(
            streamId,
            events => At(events, events.LastOrDefault(stored => stored.Fact.DecidedAt <= time)?.Version ?? 0));

    /// <inheritdoc/>
    public Task<StatementPage> ReadAsync(
        StatementPageRequest request, CancellationToken cancellationToken) => ReadAsync(
        StreamId.For(request.PaymentType, request.AccountId), events => Page(request, events));

    private StatementPage Page(StatementPageRequest request, IReadOnlyList<Stored> events)
    {
        var (page, account, bytes) = (new StatementPage { ReadTo = request.AfterVersion }, opened, 0);
        foreach (var stored in events)
        {
            var next = stored.Fact.Stated(
                stored.Version, stored.Fact is CreditLimitChanged { Limit: var limit } ? limit : null, account);
            if (next.Version > request.AfterVersion)
            {
                var entry = StatementReader.Entry(stored.Fact, next.Version, request.WithPrincipals);
                if ((!request.IsSelective() || request.Selects(entry)) && !page.TryAdd(request, entry, ref bytes))
                {
                    page.HasMore = true;
                    break;
                }
                page.ReadTo = next.Version;
            }
            account = next;
        }
        page.Closing = new AccountState
        {
            Version = account.Version,
            Balance = account.Balance.ToMoney(account.Currency ?? ""),
            CreditLimit = account.CreditLimit.ToMoney(account.Currency ?? ""),
        };
        return page;
    }

    private Task<T> ReadAsync<T>(string streamId, Func<IReadOnlyList<Stored>, T> read) =>
        server.AskAsync(
            node, new StoreRequest(Writes: false) { Streams = [streamId] },
            _ => read([.. server.Statements.Stream(streamId)]));

    private PastAccount At(IReadOnlyList<Stored> events, long version) => version == 0
        ? new PastAccount(opened)
        : new PastAccount(
            Statements.After([.. events.Take((int)version)], opened) with { Head = null },
            events[(int)version - 1].Fact.DecidedAt);
}
