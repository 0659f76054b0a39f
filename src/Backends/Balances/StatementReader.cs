using System.Data;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;

namespace Billing.Backends.Balances;

/// <summary>Reads statements from Marten's tables. With an opening state in the request, only the page's own entries are read.
/// Without one, the account is folded from its last snapshot before the page, or from its first event; only the page is held
/// in memory.</summary>
/// <param name="servers">The database.</param>
/// <param name="accounts">The accounts in it.</param>
/// <param name="schema">Its schema.</param>
/// <param name="backend">The settings of the backend.</param>
internal sealed class StatementReader(StoreServers servers, IAccountReader accounts, string schema, BackendOptions backend)
{
    private readonly string _streams = schema + ".mt_streams";
    private readonly string _events = schema + ".mt_events";
    private readonly string _snapshots = EventStoreSchema.Snapshots(schema);
    private readonly Account _opened = Account.Opened(backend.DefaultCreditLimit);

    /// <summary>Reads a page; the page of an account without events is empty.</summary>
    public async Task<Wire.V1.StatementPage> ReadAsync(Wire.V1.StatementPageRequest request, CancellationToken cancellationToken)
    {
        var streamId = StreamId.For(request.PaymentType, request.AccountId);
        var opening = request.Opening is { } stated ? ToAccount(stated)
            : request.AfterVersion == 0 ? _opened
            : await OpeningAsync(streamId, request.AfterVersion, cancellationToken);
        if (opening is null)
        {
            var account = await accounts.LoadAsync([streamId], _opened, cancellationToken);
            return new Wire.V1.StatementPage { Closing = ToState(account[streamId]) };
        }
        return await ReadAsync(streamId, opening, request, cancellationToken);
    }

    private async Task<Wire.V1.StatementPage> ReadAsync(
        string streamId, Account account, Wire.V1.StatementPageRequest request, CancellationToken cancellationToken)
    {
        var page = new Wire.V1.StatementPage();
        await using var command = servers.Primary.CreateCommand(
            $"select version, type, data from {_events} where stream_id = $1 and version > $2 and version <= $3 order by version");
        command.Parameters.AddWithValue(streamId);
        command.Parameters.AddWithValue(account.Version);
        // One more than the page holds, to know whether there is more. Versions have no holes, so this bounds the rows.
        command.Parameters.AddWithValue(Math.Min(request.AfterVersion, long.MaxValue - request.Limit - 1) + request.Limit + 1);
        await using var rows = await command.ExecuteReaderAsync(CommandBehavior.SequentialAccess, cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            if (page.Entries.Count == request.Limit)
            {
                page.HasMore = true;
                break;
            }
            var version = rows.GetInt64(0);
            var fact = EventTypes.Read(rows.GetString(1), rows.GetFieldValue<byte[]>(2));
            account = account.Apply(fact);
            if (version > request.AfterVersion)
            {
                page.Entries.Add(Entry(fact, account, request.WithPrincipals));
            }
        }
        page.Closing = ToState(account);
        return page;
    }

    /// <summary>The nearest known state of an account at or before a version. Null if the account has no later version: then
    /// there are no entries, and no stream is folded in vain.</summary>
    private async Task<Account?> OpeningAsync(string streamId, long afterVersion, CancellationToken cancellationToken)
    {
        await using var command = servers.Primary.CreateCommand($"""
            select known.version, known.balance, known.credit_limit, known.currency
            from {_streams} s left join {_snapshots} known on known.stream_id = s.id and known.version <= $2
            where s.id = $1 and s.version > $2
            """);
        command.Parameters.AddWithValue(streamId);
        command.Parameters.AddWithValue(afterVersion);
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        if (!await rows.ReadAsync(cancellationToken))
        {
            return null;
        }
        return await rows.IsDBNullAsync(0, cancellationToken)
            ? _opened
            : new Account(
                rows.GetInt64(0), rows.GetDecimal(1), rows.GetDecimal(2),
                await rows.IsDBNullAsync(3, cancellationToken) ? null : rows.GetString(3));
    }

    private static StatementEntry Entry(AccountEvent fact, Account after, bool withPrincipal)
    {
        var kind = WriteKinds.Of(fact);
        var entry = new StatementEntry
        {
            Version = after.Version,
            Type = kind.EntryType,
            TransactionId = fact.TransactionId == Guid.Empty ? "" : fact.TransactionId.ToString(),
            DecidedAt = fact.DecidedAt.ToTimestamp(),
            Balance = after.Balance.ToMoney(after.Currency ?? ""),
            OnHold = (fact.OnHold ?? 0).ToMoney(after.Currency ?? ""),
            Principal = withPrincipal && fact.By is { } by ? new V1.Principal { Subject = by.Subject, ClientId = by.ClientId ?? "" } : null,
            Notes = fact.Notes?.ToMessage(),
        };
        kind.Write(fact, entry);
        return entry;
    }

    private static Account ToAccount(Wire.V1.AccountState state) => new(
        state.Version, state.Balance.ToDecimal(), state.CreditLimit.ToDecimal(),
        state.Balance.CurrencyCode.Length == 0 ? null : state.Balance.CurrencyCode);

    private static Wire.V1.AccountState ToState(Account account) => new()
    {
        Version = account.Version,
        Balance = account.Balance.ToMoney(account.Currency ?? ""),
        CreditLimit = account.CreditLimit.ToMoney(account.Currency ?? ""),
    };
}
