using System.Data;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.Backends.Balances;

/// <summary>Reads what happened to an account, a page at a time. A page that comes with its opening state costs its own
/// entries; one without is folded from the account's first event on, holding no more than the page in memory.</summary>
public sealed class StatementReader(
    NpgsqlDataSource database, IOptions<EventStoreOptions> store, IOptions<BackendOptions> backend)
{
    private readonly string _events = store.Value.Schema + ".mt_events";
    private readonly Account _opened = Account.Opened(backend.Value.DefaultCreditLimit);

    /// <summary>Reads a page; an account without events has an empty one.</summary>
    /// <param name="request">A request that keeps the rules of the contract.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="InvalidOperationException">The store holds an event that this program does not know.</exception>
    public async Task<Wire.V1.StatementPage> ReadAsync(Wire.V1.StatementPageRequest request, CancellationToken cancellationToken)
    {
        var account = request.Opening is { } opening ? ToAccount(opening) : _opened;
        var page = new Wire.V1.StatementPage();
        await using var command = database.CreateCommand(
            $"select version, type, data from {_events} where stream_id = $1 and version > $2 and version <= $3 order by version");
        command.Parameters.AddWithValue(StreamId.For(request.PaymentType, request.AccountId));
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
                page.Entries.Add(Entry(fact, account));
            }
        }
        page.Closing = ToState(account);
        return page;
    }

    private static StatementEntry Entry(AccountEvent fact, Account after)
    {
        var entry = new StatementEntry { Version = after.Version, Balance = after.Balance.ToMoney(after.Currency ?? "") };
        switch (fact)
        {
            case PaymentAccepted accepted:
                entry.Type = StatementEntryType.PaymentAccepted;
                entry.TransactionId = accepted.TransactionId.ToString();
                entry.DecidedAt = accepted.DecidedAt.ToTimestamp();
                entry.Amount = accepted.Amount.ToMoney(accepted.Currency);
                break;
            case PaymentDeclined declined:
                entry.Type = StatementEntryType.PaymentDeclined;
                entry.TransactionId = declined.TransactionId.ToString();
                entry.DecidedAt = declined.DecidedAt.ToTimestamp();
                entry.Amount = declined.Amount.ToMoney(declined.Currency);
                entry.DeclineReason = declined.Reason;
                break;
            case CreditLimitChanged changed:
                entry.Type = StatementEntryType.CreditLimitChanged;
                entry.TransactionId = changed.TransactionId == Guid.Empty ? "" : changed.TransactionId.ToString();
                entry.DecidedAt = changed.DecidedAt.ToTimestamp();
                entry.Amount = changed.Limit.ToMoney(changed.Currency);
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(fact), fact, "A statement has no such entry.");
        }
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
