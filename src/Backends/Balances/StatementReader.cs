using System.Data;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.Writes;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;
using Npgsql;

namespace Billing.Backends.Balances;

/// <summary>Reads statements of the accounts in one database.</summary>
internal interface IStatementReader
{
    /// <summary>Reads a page; the page of an account without events is empty.</summary>
    Task<Wire.V1.StatementPage> ReadAsync(Wire.V1.StatementPageRequest request, CancellationToken cancellationToken);
}

/// <summary>Reads statements from Marten's tables: only the page's own entries, from the opening state in the request,
/// or else from the account as it was before the page.</summary>
/// <param name="primary">The primary of the database.</param>
/// <param name="accounts">The accounts in it.</param>
/// <param name="history">The same accounts as they were.</param>
/// <param name="schema">Its schema.</param>
/// <param name="opened">The state of an account without events.</param>
/// <param name="scannedMax">The most events that are looked at for a page of only some events:
/// so many that it takes a moment.</param>
internal sealed class StatementReader(
    NpgsqlDataSource primary, IAccountReader accounts, AccountHistory history,
    string schema, Account opened, int scannedMax = 100_000)
    : IStatementReader
{
    private readonly string _events = schema + ".mt_events";

    /// <inheritdoc/>
    public async Task<Wire.V1.StatementPage> ReadAsync(
        Wire.V1.StatementPageRequest request, CancellationToken cancellationToken)
    {
        var streamId = StreamId.For(request.PaymentType, request.AccountId);
        if (request.IsSelective())
        {
            return await SelectAsync(streamId, request, cancellationToken);
        }
        var opening = request.Opening is { } stated ? ToAccount(stated)
            : request.AfterVersion == 0 ? opened
            : (await history.AtAsync(streamId, request.AfterVersion, cancellationToken)).Account;
        if (opening is null)
        {
            var account = await accounts.LoadAsync([streamId], opened, cancellationToken);
            return new Wire.V1.StatementPage { Closing = ToState(account[streamId]) };
        }
        return await ReadAsync(streamId, opening, request, cancellationToken);
    }

    private async Task<Wire.V1.StatementPage> ReadAsync(
        string streamId, Account account, Wire.V1.StatementPageRequest request, CancellationToken cancellationToken)
    {
        var (page, bytes) = (new Wire.V1.StatementPage(), 0);
        // One more than the page holds, to know whether there is more. Versions have no holes, so this bounds the rows.
        var last = Math.Min(request.AfterVersion, long.MaxValue - request.Limit - 1) + request.Limit + 1;
        await foreach (var (version, fact) in FactsAsync(
            streamId, account.Version, last, "", [], null, cancellationToken))
        {
            if (!page.TryAdd(request, Entry(fact, version, request.WithPrincipals), ref bytes))
            {
                page.HasMore = true;
                break;
            }
            account = fact.Stated(version, fact is CreditLimitChanged { Limit: var limit } ? limit : null, account);
        }
        page.Closing = ToState(account);
        page.ReadTo = account.Version;
        return page;
    }

    // A page of only some events.
    private async Task<Wire.V1.StatementPage> SelectAsync(
        string streamId, Wire.V1.StatementPageRequest request, CancellationToken cancellationToken)
    {
        var range = await history.NearAsync(
            streamId, request.StartTime?.ToDateTimeOffset() ?? DateTimeOffset.MinValue,
            request.EndTime?.ToDateTimeOffset() ?? DateTimeOffset.MaxValue, cancellationToken);
        var after = Math.Max(range.After, request.AfterVersion);
        var last = Math.Min(range.Last, after + Math.Min(scannedMax, long.MaxValue - after));
        var page = new Wire.V1.StatementPage { ReadTo = Math.Max(after, last), HasMore = last < range.Last };
        if (after < last)
        {
            await AddAsync(page, request, streamId, after, last, cancellationToken);
        }
        return page;
    }

    private async Task AddAsync(
        Wire.V1.StatementPage page, Wire.V1.StatementPageRequest request, string streamId, long after,
        long last, CancellationToken cancellationToken)
    {
        var (condition, parameters) = Condition(request);
        var (rows, read, bytes) = (0, after, 0);
        // One more than the page holds, to know whether there is more.
        await foreach (var (version, fact) in FactsAsync(
            streamId, after, last, condition, parameters, request.Limit + 1, cancellationToken))
        {
            (rows, read) = (rows + 1, version);
            if (!TryAdd(page, request, Entry(fact, version, request.WithPrincipals), ref bytes))
            {
                return;
            }
        }
        if (rows > request.Limit)
        {
            // Some of what the rounded times let pass was not selected.
            (page.HasMore, page.ReadTo) = (true, read);
        }
    }

    // Returns whether there was room for it on the page.
    private static bool TryAdd(
        Wire.V1.StatementPage page, Wire.V1.StatementPageRequest request, StatementEntry entry, ref int bytes)
    {
        if (!request.Selects(entry) || page.TryAdd(request, entry, ref bytes))
        {
            return true;
        }
        page.HasMore = true;
        page.ReadTo = page.Entries[^1].Version;
        return false;
    }

    // The names of types are constants, for PostgreSQL to see where an index is of all events that are wanted.
    private static (string Condition, NpgsqlParameter[] Parameters) Condition(Wire.V1.StatementPageRequest request)
    {
        var (condition, parameters) = (new StringBuilder(), new List<NpgsqlParameter>());
        if (request.Types_.Count > 0)
        {
            var names = WriteKinds.Events.Where(kind => request.Types_.Contains(kind.EntryType))
                .SelectMany(kind => kind.Names);
            condition.Append(CultureInfo.InvariantCulture, $" and type in ('{string.Join("', '", names)}')");
        }
        if (request.StartTime is { } from)
        {
            parameters.Add(
                AccountHistory.Time(AccountHistory.Shifted(from.ToDateTimeOffset(), -AccountHistory.Rounding)));
            condition.Append(CultureInfo.InvariantCulture, $" and {AccountHistory.DecidedAt} >= $4");
        }
        if (request.EndTime is { } before)
        {
            parameters.Add(
                AccountHistory.Time(AccountHistory.Shifted(before.ToDateTimeOffset(), AccountHistory.Rounding)));
            condition.Append(
                CultureInfo.InvariantCulture, $" and {AccountHistory.DecidedAt} <= ${3 + parameters.Count}");
        }
        return (condition.ToString(), [.. parameters]);
    }

    private async IAsyncEnumerable<(long Version, AccountEvent Fact)> FactsAsync(
        string streamId, long after, long last, string condition, NpgsqlParameter[] parameters, int? limit,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await using var command = primary.CreateCommand(
            $"select version, type, data from {_events} where stream_id = $1 and version > $2 and version <= "
            + $"$3{condition} order by version limit ${4 + parameters.Length}");
        command.Parameters.Add(AccountHistory.Text(streamId));
        command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = after });
        command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = last });
        command.Parameters.AddRange(parameters);
        command.Parameters.Add(new NpgsqlParameter<int?> { TypedValue = limit });
        await using var rows = await command.ExecuteReaderAsync(CommandBehavior.SequentialAccess, cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            yield return (rows.GetInt64(0), EventTypes.Read(rows.GetString(1), rows.GetFieldValue<byte[]>(2)));
        }
    }

    /// <summary>The entry of an event.</summary>
    internal static StatementEntry Entry(AccountEvent fact, long version, bool withPrincipal)
    {
        var kind = WriteKinds.Of(fact);
        var currency = fact.AccountCurrency ?? "";
        var entry = new StatementEntry
        {
            Version = version,
            Type = kind.EntryType,
            TransactionId = fact.TransactionId.ToString(),
            DecideTime = fact.DecidedAt.ToTimestamp(),
            Balance = fact.Balance.ToMoney(currency),
            OnHold = (fact.OnHold ?? 0).ToMoney(currency),
            AccountStatus = fact.AccountStatus,
            Principal = withPrincipal && fact.By is { } by
                ? new V1.Principal { Subject = by.Subject, ClientId = by.ClientId ?? "" }
                : null,
            Notes = fact.Notes?.ToMessage(),
        };
        kind.Write(fact, entry);
        return entry;
    }

    // Without a currency nothing is owed.
    private Account ToAccount(Wire.V1.AccountState state) => state.Balance.CurrencyCode.Length == 0
        ? opened with { Version = state.Version }
        : new(state.Version, state.Balance.ToDecimal(), state.CreditLimit.ToDecimal(), state.Balance.CurrencyCode);

    private static Wire.V1.AccountState ToState(Account account) => new()
    {
        Version = account.Version,
        Balance = account.Balance.ToMoney(account.Currency ?? ""),
        CreditLimit = account.CreditLimit.ToMoney(account.Currency ?? ""),
    };
}
