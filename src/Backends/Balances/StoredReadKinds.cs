using Billing.Backends.EventStore;
using Billing.Wire.V1;

namespace Billing.Backends.Balances;

/// <summary>The kinds of requests that are answered from the event store.</summary>
internal static class StoredReadKinds
{
    /// <summary>The number of kinds.</summary>
    public static int Count { get; } = All.Count();

    /// <summary>All kinds: the member of the command, and how the database of its account answers it.</summary>
    public static IEnumerable<(Command.RequestOneofCase Field, StoredRead Read)> All =>
    [
        (Command.RequestOneofCase.Statement, async (database, command, token) =>
            new Reply { Statement = await database.Statements.ReadAsync(command.Statement, token) }),
        (Command.RequestOneofCase.Lookup, (database, command, token) =>
            TransactionLookup.AnswerAsync(database.Accounts, command, token)),
        (Command.RequestOneofCase.BalanceAt, (database, command, token) =>
            PastBalances.AnswerAsync(database.History, command, token)),
    ];
}

/// <summary>Answers a request from a database of the event store.</summary>
internal delegate Task<Reply> StoredRead(ReadDatabase database, Command command, CancellationToken cancellationToken);

/// <summary>What requests are answered from.</summary>
/// <param name="Accounts">A database of the event store.</param>
/// <param name="History">Its accounts as they were.</param>
/// <param name="Statements">Its accounts' statements.</param>
internal sealed record ReadDatabase(IAccountStore Accounts, IAccountHistory History, IStatementReader Statements);
