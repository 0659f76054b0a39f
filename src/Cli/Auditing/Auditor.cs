using System.Runtime.InteropServices;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Client.Load;
using Billing.V1;
using Npgsql;

namespace Billing.Cli.Auditing;

/// <summary>Compares what clients were told with what the event store holds: each acknowledged payment must be there once,
/// with the amount, account, outcome and version that its client was told, and no transaction may be there twice.</summary>
/// <param name="connectionString">The event store.</param>
/// <param name="schema">Its schema.</param>
public sealed class Auditor(string connectionString, string schema = "billing")
{
    /// <summary>Audits journals against the store.</summary>
    public async Task<AuditResult> RunAsync(IEnumerable<string> journals, CancellationToken cancellationToken)
    {
        var payments = new Dictionary<Guid, Tally>();
        foreach (var entry in journals.SelectMany(Journal.Read))
        {
            payments[entry.TransactionId] = new Tally { Journal = entry };
        }
        var wrong = new List<string>();
        var foreign = new Dictionary<Guid, int>();
        await foreach (var recorded in ReadStoreAsync(cancellationToken))
        {
            ref var tally = ref CollectionsMarshal.GetValueRefOrNullRef(payments, recorded.TransactionId);
            if (System.Runtime.CompilerServices.Unsafe.IsNullRef(ref tally))
            {
                CollectionsMarshal.GetValueRefOrAddDefault(foreign, recorded.TransactionId, out _)++;
                continue;
            }
            tally.Events++;
            if (Difference(tally.Journal, recorded) is { } difference)
            {
                wrong.Add(difference);
            }
        }
        return Conclude(payments, foreign, wrong);
    }

    private static AuditResult Conclude(Dictionary<Guid, Tally> payments, Dictionary<Guid, int> foreign, List<string> wrong)
    {
        var acknowledged = payments.Values.Where(t => t.IsAcknowledged).ToList();
        var unanswered = payments.Values.Where(t => !t.IsAcknowledged).ToList();
        return new AuditResult(
            acknowledged.Count, acknowledged.Count(t => t.Events > 0), unanswered.Count, unanswered.Count(t => t.Events > 0),
            [.. acknowledged.Where(t => t.Events == 0).Select(t => t.Journal.ToString())],
            [
                .. payments.Values.Where(t => t.Events > 1).Select(t => $"{t.Journal} ({t.Events} events)"),
                .. foreign.Where(f => f.Value > 1).Select(f => $"{f.Key} ({f.Value} events)"),
            ],
            wrong);
    }

    private static string? Difference(JournalEntry told, JournalEntry recorded)
    {
        var unknown = told.Outcome == PaymentOutcome.Unspecified;
        var expected = unknown ? told with { Outcome = recorded.Outcome, Version = recorded.Version } : told;
        return expected == recorded ? null : $"told {told}, recorded {recorded}";
    }

    private async IAsyncEnumerable<JournalEntry> ReadStoreAsync(
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await using var database = NpgsqlDataSource.Create(connectionString);
        await using var command = database.CreateCommand($"select stream_id, version, type, data from {schema}.mt_events");
        command.CommandTimeout = 0;
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
        {
            var (stream, version) = (rows.GetString(0), rows.GetInt64(1));
            switch (EventTypes.Read(rows.GetString(2), rows.GetFieldValue<byte[]>(3)))
            {
                case PaymentAccepted accepted:
                    yield return new JournalEntry(
                        accepted.TransactionId, stream, accepted.Currency, accepted.Amount, PaymentOutcome.Accepted, version);
                    break;
                case PaymentDeclined declined:
                    yield return new JournalEntry(
                        declined.TransactionId, stream, declined.Currency, declined.Amount, PaymentOutcome.Declined, version);
                    break;
            }
        }
    }

    private struct Tally
    {
        public JournalEntry Journal;
        public int Events;

        public readonly bool IsAcknowledged => Journal.Outcome != PaymentOutcome.Unspecified;
    }
}
