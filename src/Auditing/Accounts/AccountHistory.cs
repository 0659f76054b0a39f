using System.Runtime.CompilerServices;
using System.Text.Json;
using Npgsql;

namespace Billing.Auditing.Accounts;

/// <summary>Reads who changed an account.</summary>
public static class AccountHistory
{
    /// <summary>Reads the events of an account, in order.</summary>
    /// <param name="databases">The connection strings of all databases of the event store, of which
    /// one has the account.</param>
    /// <param name="streamId">The account's stream, e.g. <c>visa/acct-42</c>.</param>
    /// <param name="schema">Its schema.</param>
    /// <param name="cancellationToken">Ends the reading.</param>
    /// <exception cref="FormatException">An event cannot be read; the message names its version.</exception>
    /// <exception cref="NpgsqlException">A database cannot be used, or has no event store.</exception>
    public static async IAsyncEnumerable<AuthoredEvent> ReadAsync(
        IEnumerable<string> databases, string streamId, string schema = "billing",
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        foreach (var database in databases)
        {
            await using var source = NpgsqlDataSource.Create(
                new NpgsqlConnectionStringBuilder(database) { Pooling = false });
            await using var select = source.CreateCommand(
                $"select version, type, data from {schema}.mt_events where stream_id = $1 order by version");
            select.Parameters.AddWithValue(streamId);
            await using var rows = await select.ExecuteReaderAsync(cancellationToken);
            while (await rows.ReadAsync(cancellationToken))
            {
                yield return Read(rows.GetInt64(0), rows.GetString(1), rows.GetFieldValue<byte[]>(2));
            }
        }
    }

    private static AuthoredEvent Read(long version, string type, byte[] json)
    {
        try
        {
            var fact = StoredFact.Read(type, json);
            using var document = JsonDocument.Parse(json);
            var content = document.RootElement;
            var by = content.TryGetProperty("By", out var stated) ? stated : default;
            return new AuthoredEvent(
                version, content.GetProperty("DecidedAt").GetDateTimeOffset(), KindOf(fact), fact.TransactionId,
                fact.Amount, fact.Currency, Text(by, "Subject"), Text(by, "ClientId"));
        }
        catch (Exception e) when (e is FormatException or KeyNotFoundException or InvalidOperationException)
        {
            throw new FormatException($"Version {version} cannot be read: {e.Message}", e);
        }
    }

    private static string KindOf(StoredFact fact) => fact switch
    {
        { Kind: not TransactionKind.StatusChanged } => fact.Kind.ToString(),
        { Status: StoredFact.Open } => "Opened",
        { Status: StoredFact.Frozen } => "Frozen",
        _ => "Closed",
    };

    private static string? Text(JsonElement by, string name) =>
        by.ValueKind == JsonValueKind.Object && by.TryGetProperty(name, out var text) ? text.GetString() : null;
}

/// <summary>An event of an account, with who sent the command that it records.</summary>
/// <param name="Version">Its position in the account's stream, from 1.</param>
/// <param name="DecidedAt">When it was decided.</param>
/// <param name="Kind">What happened, e.g. Accepted, Declined, LimitChanged or Frozen.</param>
/// <param name="TransactionId">The transaction id.</param>
/// <param name="Amount">The amount of the payment, or the new limit; zero for a change of the status.</param>
/// <param name="Currency">Its currency (ISO 4217); empty for a change of the status.</param>
/// <param name="Subject">The subject of the sender's token; null where callers were not authenticated.</param>
/// <param name="ClientId">The client id of that token; null if it had none.</param>
public sealed record AuthoredEvent(
    long Version, DateTimeOffset DecidedAt, string Kind, Guid TransactionId, decimal Amount,
    string Currency, string? Subject, string? ClientId);
