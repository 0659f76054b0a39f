using System.Globalization;
using Billing.Auditing;
using Billing.Backends.EventStore;
using Billing.IntegrationTests.Services;
using Billing.Journals;
using Billing.LocalStack;
using Billing.V1;
using Npgsql;

namespace Billing.IntegrationTests.Operator;

/// <summary>Whether the audit finds and names faults. Each fault is inserted into a copy of the data of a real run,
/// in its own schema.</summary>
[Collection(InOneProcess.Name)]
public sealed class AuditFaults(EmbeddedStack stack, RecordedAccounts recorded)
    : IClassFixture<RecordedAccounts>, IAsyncLifetime
{
    private const int LongCount = RecordedAccounts.LongCount;
    private const int ShortCount = RecordedAccounts.ShortCount;

    private readonly string _schema = "audit_" + Guid.NewGuid().ToString("N");
    private readonly string _journal = Path.Combine(Path.GetTempPath(), $"billing-journal-{Guid.NewGuid():N}.csv");
    private readonly IReadOnlyList<JournalEntry> _answers = recorded.Answers;
    private NpgsqlDataSource _database = null!;

    private string Long => recorded.LongStream;

    private string Short => recorded.ShortStream;

    public async ValueTask InitializeAsync()
    {
        _database = NpgsqlDataSource.Create(stack.ConnectionString);
        await File.WriteAllLinesAsync(_journal, _answers.Select(e => e.ToString()));
        await ExecuteAsync("create schema {s}");
        foreach (var table in new[] { "mt_events", "mt_streams", "open_holds", "shards" })
        {
            await ExecuteAsync($$"""create table {s}.{{table}} (like billing.{{table}} including defaults)""");
        }
        await ExecuteAsync("""
            insert into {s}.mt_events select * from billing.mt_events where stream_id in ('{long}', '{short}');
            insert into {s}.mt_streams select * from billing.mt_streams where id in ('{long}', '{short}');
            insert into {s}.shards select * from billing.shards;
            """);
    }

    public async ValueTask DisposeAsync()
    {
        await ExecuteAsync("drop schema {s} cascade");
        await _database.DisposeAsync();
        File.Delete(_journal);
    }

    [Fact]
    public async Task A_store_without_faults_is_reported_as_clean()
    {
        var audit = await AuditAsync();

        Assert.True(audit.IsClean);
        Assert.Equal(2, audit.Accounts);
        Assert.Equal(LongCount + ShortCount, audit.Events);
        Assert.Equal(LongCount + ShortCount, audit.Receipts);
        Assert.Equal(LongCount + ShortCount, audit.Acknowledged);
        Assert.Equal(LongCount + ShortCount, audit.Recorded);
    }

    [Theory]
    [InlineData(
        "delete from {s}.mt_events where stream_id = '{short}' and version = 5; "
            + "update {s}.mt_streams set version = 4 where id = '{short}'",
        nameof(AuditResult.Lost), "{t5},{short}")]
    [InlineData(
        "insert into {s}.mt_events (seq_id, id, stream_id, version, data, type) select seq_id + 1000000, id, "
            + "stream_id, 6, data, type from {s}.mt_events where stream_id = '{short}' and version = 3; "
            + "update {s}.mt_streams set version = 6 where id = '{short}'",
        nameof(AuditResult.Doubled), "{t3}: {short} version 3")]
    [InlineData(
        "update {s}.mt_events set data = jsonb_set(data, '{Amount}', '20001') where stream_id = "
            + "'{short}' and version = 5",
        nameof(AuditResult.Wrong), "answered {t5}")]
    [InlineData(
        "update {s}.mt_events set data = jsonb_set(data, '{Currency}', '\"EUR\"') where stream_id = "
            + "'{short}' and version = 5",
        nameof(AuditResult.Wrong), "answered {t5}")]
    [InlineData(
        "update {s}.mt_events set stream_id = '{long}', version = 102 where stream_id = '{short}' and version = 5",
        nameof(AuditResult.Lost), "{t5},{short}")]
    [InlineData("update {s}.mt_events set type = 'payment_accepted_v1' where stream_id = '{short}' and version = 5",
        nameof(AuditResult.Wrong), "answered {t5}")]
    [InlineData("update {s}.mt_events set version = 9 - version where stream_id = '{short}' and version in (4, 5)",
        nameof(AuditResult.Wrong), "answered {t5}")]
    [InlineData(
        "update {s}.mt_events set data = jsonb_set(data, '{Amount}', '3.01') where stream_id = "
            + "'{short}' and version = 3",
        nameof(AuditResult.Unbalanced),
        "{t4}: answered balance 10; the events up to {short} version 4 sum up to 10.01")]
    [InlineData(
        "update {s}.mt_events set data = jsonb_set(data, '{Balance}', '4') where stream_id = '{short}' and version = 2",
        nameof(AuditResult.Unbalanced), "{short} version 2 states the balance 4; the events up to it sum up to 3")]
    [InlineData(
        "update {s}.mt_events set data = jsonb_set(data, '{KeptIn}', '\"EUR\"') where stream_id = "
            + "'{short}' and version = 5",
        nameof(AuditResult.Unbalanced), "{short} version 5 states that the account is kept in 'EUR'; it is 'USD'")]
    [InlineData("update {s}.mt_events set data = data || '{\"Status\": 2}' where stream_id = '{short}' and version = 2",
        nameof(AuditResult.Unbalanced), "{short} version 2 states the status 2; the events up to it leave 1")]
    [InlineData("update {s}.mt_events set id = gen_random_uuid() where stream_id = '{short}' and version = 2",
        nameof(AuditResult.Unbalanced), "{t2}: no receipt: {short} version 2 has another id than that of its command")]
    [InlineData(
        "update {s}.mt_events set data = jsonb_set(data, '{TransactionId}', "
            + "'\"01234567-89ab-cdef-0123-456789abcdef\"') where stream_id = '{short}' and version = 2",
        nameof(AuditResult.Lost), "{t2},{short}")]
    [InlineData(
        "update {s}.mt_events set data = jsonb_set(data, '{Reason}', '2') where stream_id = '{short}' and version = 5",
        nameof(AuditResult.Misjudged), "{short} version 5: declined for reason 2, which should be 1; {t5}")]
    [InlineData("update {s}.mt_events set data = data - 'Amount' where stream_id = '{short}' and version = 2",
        nameof(AuditResult.Unbalanced), "{short} version 2 cannot be read: Amount is missing")]
    [InlineData("update {s}.mt_events set data = data - 'Balance' where stream_id = '{short}' and version = 2",
        nameof(AuditResult.Unbalanced), "{short} version 2 cannot be read: Balance is missing")]
    [InlineData("update {s}.mt_events set data = data - 'TransactionId' where stream_id = '{short}' and version = 2",
        nameof(AuditResult.Unbalanced), "{short} version 2 cannot be read: TransactionId is missing")]
    [InlineData("update {s}.mt_events set type = 'payment_forgotten_v9' where stream_id = '{short}' and version = 2",
        nameof(AuditResult.Unbalanced), "{short} version 2 cannot be read")]
    [InlineData("delete from {s}.mt_events where stream_id = '{short}' and version = 2",
        nameof(AuditResult.Holes), "{short}: version 2 is missing")]
    [InlineData("update {s}.mt_events set version = 3 where stream_id = '{short}' and version = 4",
        nameof(AuditResult.Holes), "{short}: version 3 is duplicated")]
    [InlineData("update {s}.mt_streams set version = 6 where id = '{short}'",
        nameof(AuditResult.Holes), "{short}: mt_streams has version 6, the last event is version 5")]
    [InlineData("delete from {s}.mt_streams where id = '{short}'",
        nameof(AuditResult.Holes), "{short}: mt_streams has version none")]
    public async Task A_fault_in_the_store_is_found_and_named(string fault, string list, string message)
    {
        await ExecuteAsync(fault);

        var audit = await AuditAsync();

        Assert.False(audit.IsClean);
        Assert.Contains(List(audit, list), found => found.Contains(Fill(message), StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("amount", nameof(AuditResult.Wrong))]
    [InlineData("currency", nameof(AuditResult.Wrong))]
    [InlineData("account", nameof(AuditResult.Lost))]
    [InlineData("outcome", nameof(AuditResult.Wrong))]
    [InlineData("version", nameof(AuditResult.Wrong))]
    [InlineData("balance", nameof(AuditResult.Unbalanced))]
    public async Task A_wrong_answer_among_several_to_one_payment_is_found_even_if_it_is_not_the_last(
        string field, string list)
    {
        var answer = _answers[1];
        var wrong = field switch
        {
            "amount" => answer with { Amount = 2.01m },
            "currency" => answer with { Currency = "EUR" },
            "account" => answer with { StreamId = Long },
            "outcome" => answer with { Outcome = PaymentFate.Declined },
            "version" => answer with { Version = 3 },
            _ => answer with { Balance = 4 },
        };
        var last = Path.ChangeExtension(_journal, ".last");
        try
        {
            await File.WriteAllLinesAsync(
                last,
                [
                    answer.ToString(), wrong.ToString(), answer.ToString(),
                    (answer with { Outcome = PaymentFate.Unknown, Version = 0, Balance = null }).ToString(),
                ]);

            var audit = await AuditAsync(_journal, last);

            Assert.Contains(
                answer.TransactionId.ToString(), Assert.Single(List(audit, list)), StringComparison.Ordinal);
            Assert.Equal(1, audit.Wrong.Count + audit.Unbalanced.Count + audit.Lost.Count);
            Assert.Equal(_answers.Count + audit.Lost.Count, audit.Acknowledged);
            Assert.Equal(0, audit.Unanswered);
        }
        finally
        {
            File.Delete(last);
        }
    }

    [Theory]
    [InlineData(DeclineReason.CreditLimitExceeded, 0)]
    [InlineData(DeclineReason.CurrencyMismatch, 1)]
    public async Task The_decline_reason_of_an_answer_is_compared_with_the_events(DeclineReason reason, int wrong)
    {
        await File.WriteAllLinesAsync(_journal, _answers.Select(e =>
            e.Outcome == PaymentFate.Declined ? e with { Reason = reason } : e).Select(e => e.ToString()));

        var audit = await AuditAsync();

        Assert.Equal(wrong, audit.Wrong.Count);
        Assert.All(audit.Wrong, found => Assert.Contains(",10,CurrencyMismatch,", found, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(5, 10, null)]
    [InlineData(3, 6, null)]
    [InlineData(3, 6.01, "{short}: answered balance 6.01 of version 3; the events up to it sum up to 6")]
    [InlineData(9, 10, "{short}: answered balance 10 of version 9, but no event has this version")]
    public async Task A_balance_of_an_answer_is_compared_with_the_events(int version, double balance, string? fault)
    {
        await File.AppendAllLinesAsync(_journal, [$"{Balance(version, (decimal)balance)}"]);

        var audit = await AuditAsync();

        Assert.Equal(fault is null ? "" : Fill(fault), string.Join("", audit.Unbalanced));
        Assert.Equal(fault is null, audit.IsClean);
        Assert.Equal((1, 0, _answers.Count), (audit.BalancesInAnswers, audit.Unanswered, audit.Acknowledged));
    }

    [Theory]
    [InlineData(4, 3, "{short}: answered a balance of version 3 to a request for version 4 or later")]
    [InlineData(3, 3, null)]
    public async Task A_balance_of_a_replica_that_is_behind_the_requested_version_is_found(
        int minVersion, int version, string? fault)
    {
        await File.AppendAllLinesAsync(_journal, [$"{Balance(version, 6) with { MinVersion = minVersion }}"]);

        var audit = await AuditAsync();

        Assert.Equal(fault is null ? "" : Fill(fault), string.Join("", audit.Stale));
        Assert.Equal(fault is null, audit.IsClean);
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(4, 1)]
    [InlineData(5, 0)]
    public async Task A_payment_with_an_earlier_version_than_one_answered_before_is_found_within_tolerance(
        int toleranceMs, int found)
    {
        // Each payment is sent when the one before it has been answered; but the second after the third.
        var calls = _answers.Take(ShortCount)
            .Select(e => e with { Span = new CallSpan(e.Version * 10_000, (e.Version * 10_000) + 9_000) }).ToList();
        calls[1] = calls[1] with { Span = new CallSpan(44_000, 45_000) };
        await File.WriteAllLinesAsync(_journal, calls.Select(e => e.ToString()));

        var audit = await new Auditor(stack.ConnectionString, _schema)
        {
            OpeningLimits = BillingStack.OpeningLimits,
            ClockTolerance = TimeSpan.FromMilliseconds(toleranceMs),
        }
            .RunAsync([_journal], CancellationToken.None);

        Assert.Equal(found, audit.Reordered.Count);
        Assert.All(audit.Reordered, message => Assert.Equal(
            Fill("{short}: the payment of version 2 was sent 5000 us after an answer had shown version 3"), message));
        Assert.Equal(found == 0, audit.IsClean);
    }

    [Fact]
    public async Task A_payment_that_is_recorded_although_its_client_was_told_that_it_failed_is_found()
    {
        await JournalAsync(_answers[1] with { Outcome = PaymentFate.Failed, Version = 0, Balance = null });

        var audit = await AuditAsync();

        Assert.Equal(
            Fill("{t2}: answered as failed for good; recorded {short} version 2: Accepted USD 2, balance 3"),
            Assert.Single(audit.FailedYetRecorded));
        Assert.False(audit.IsClean);
        Assert.Empty(audit.Wrong);
    }

    [Fact]
    public async Task A_payment_that_is_in_no_journal_is_found_if_the_journals_are_complete()
    {
        await JournalAsync(second: null);

        var some = await AuditAsync();
        var all = await new Auditor(stack.ConnectionString, _schema)
        {
            OpeningLimits = BillingStack.OpeningLimits,
            JournalsAreComplete = true,
        }.RunAsync([_journal], CancellationToken.None);

        Assert.True(some.IsClean);
        Assert.Equal(
            Fill("{t2}: in no journal; recorded {short} version 2: Accepted USD 2, balance 3"),
            Assert.Single(all.Unexplained));
        Assert.False(all.IsClean);
    }

    [Fact]
    public async Task Amounts_that_the_backends_convert_wrongly_differ_from_those_that_were_sent()
    {
        // As with nanos divided by 10^8: the events have 2.5 for each 0.25.
        await ExecuteAsync(
            "update {s}.mt_events set data = jsonb_set(data, '{Amount}', '2.5') where stream_id = '{long}'");

        var audit = await AuditAsync();

        Assert.Equal(LongCount, audit.Wrong.Count);
        Assert.Equal(LongCount, audit.Unbalanced.Count);
        Assert.All(audit.Unbalanced, found => Assert.Contains(" states the balance ", found, StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_limit_change_must_be_found_by_its_id()
    {
        var id = Guid.NewGuid();
        await AddLimitAsync(6, id, 500);

        var without = await AuditAsync();
        var eventId = new CommandId(id, Short).EventId;
        await ExecuteAsync(
            $"update {{s}}.mt_events set id = '{eventId}' where stream_id = '{{short}}' and version = 6");
        var with = await AuditAsync();

        Assert.StartsWith($"{id}: no receipt", Assert.Single(without.Unbalanced), StringComparison.Ordinal);
        Assert.True(with.IsClean);
    }

    [Theory]
    [InlineData(
        "payment_accepted_v1", "0.01", "USD", "", "accepted, though balance 10 and the payment are above the limit 10")]
    [InlineData("payment_declined_v1", "0.01", "USD", ", \"Reason\": 2", "declined for reason 2, which should be 1")]
    [InlineData("payment_accepted_v1", "0.01", "EUR", "", "accepted, though the account is kept in USD")]
    public async Task A_payment_that_violates_the_rules_is_found(
        string type, string amount, string currency, string reason, string fault)
    {
        var id = Guid.NewGuid();
        await AddLimitAsync(6, Guid.NewGuid(), 10);
        await AddEventAsync(
            7, type,
            $$"""{"TransactionId": "{{id}}", "Amount": """
                + $$"""{{amount}}, "Currency": "{{currency}}"{{reason}}, "Balance": 10}""");
        var audit = await AuditAsync();

        Assert.StartsWith(
            Fill("{short} version 7: ") + fault, Assert.Single(audit.Misjudged), StringComparison.Ordinal);
        Assert.False(audit.IsClean);
    }

    [Fact]
    public async Task A_payment_declined_below_the_limit_is_found_only_if_the_opening_limit_is_known()
    {
        await ExecuteAsync(
            "update {s}.mt_events set data = jsonb_set(data, '{Amount}', '9990') where stream_id = "
            + "'{short}' and version = 5");

        var known = await AuditAsync();
        var unknown = await new Auditor(stack.ConnectionString, _schema) { OpeningLimits = null }.RunAsync(
            [_journal], CancellationToken.None);

        Assert.StartsWith(
            Fill("{short} version 5: declined, though balance 10 and the payment are within the limit 10000"),
            Assert.Single(known.Misjudged), StringComparison.Ordinal);
        Assert.Empty(unknown.Misjudged);
    }

    [Fact]
    public async Task Balances_are_requested_from_the_proxies_and_compared()
    {
        var clean = await AuditAsync(stack.Stack.ProxyAddresses);
        await ExecuteAsync(
            "update {s}.mt_events set data = jsonb_set(data, '{Amount}', '5') where stream_id = "
            + "'{short}' and version = 4");
        var changed = await AuditAsync(stack.Stack.ProxyAddresses);

        Assert.True(clean.IsClean);
        Assert.Equal(2, clean.BalancesRead);
        Assert.Contains(changed.Unbalanced, found => found.StartsWith(
            Fill("{short}: the proxies return balance 10 at version 5; the events up to version 5 sum up to 11"),
            StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_schema_without_an_event_store_is_named_in_the_error()
    {
        var refusal = await Assert.ThrowsAsync<Billing.Auditing.AuditException>(
            () => new Auditor(stack.ConnectionString, "nowhere").RunAsync([], CancellationToken.None));

        Assert.Contains("'nowhere'", refusal.Message, StringComparison.Ordinal);
    }

    // A balance of the short account, answered after all payments.
    private JournalEntry Balance(int version, decimal balance) => new(
        Guid.Empty, Short, "USD", 0, PaymentFate.Unknown, version, balance, DeclineReason.Unspecified,
        _answers[^1].Span);

    /// <summary>Writes the journal with another entry, or none, for the second payment of the short account.</summary>
    private Task JournalAsync(JournalEntry? second) => File.WriteAllLinesAsync(
        _journal, _answers.Select((entry, i) => i == 1 ? second : entry).OfType<JournalEntry>()
            .Select(entry => entry.ToString()));

    private Task<AuditResult> AuditAsync(params string[] journals) =>
        new Auditor(stack.ConnectionString, _schema) { OpeningLimits = BillingStack.OpeningLimits }.RunAsync(
            journals.Length == 0 ? [_journal] : journals, CancellationToken.None);

    private Task<AuditResult> AuditAsync(IReadOnlyList<string> proxies) =>
        new Auditor(stack.ConnectionString, _schema)
        {
            OpeningLimits = BillingStack.OpeningLimits,
            Proxies = proxies,
        }.RunAsync([_journal], CancellationToken.None);

    private static Findings List(AuditResult audit, string name) => name switch
    {
        nameof(AuditResult.Lost) => audit.Lost,
        nameof(AuditResult.Doubled) => audit.Doubled,
        nameof(AuditResult.Wrong) => audit.Wrong,
        nameof(AuditResult.Holes) => audit.Holes,
        nameof(AuditResult.Misjudged) => audit.Misjudged,
        _ => audit.Unbalanced,
    };

    private Task AddLimitAsync(int version, Guid id, int limit) => AddEventAsync(
        version, "credit_limit_changed_v1",
        $$"""{"TransactionId": "{{id}}", "Limit": {{limit}}, "Currency": "USD", "Balance": 10}""");

    private async Task AddEventAsync(int version, string type, string json)
    {
        await using var add = _database.CreateCommand($"""
            insert into {_schema}.mt_events (seq_id, id, stream_id, version, data, type)
            values (1000000 + $1, gen_random_uuid(), $2, $1, $3::jsonb, $4)
            """);
        add.Parameters.AddWithValue((long)version);
        add.Parameters.AddWithValue(Short);
        add.Parameters.AddWithValue(json);
        add.Parameters.AddWithValue(type);
        await add.ExecuteNonQueryAsync();
        await ExecuteAsync($$"""update {s}.mt_streams set version = {{version}} where id = '{short}'""");
    }

    private async Task ExecuteAsync(string sql)
    {
        await using var command = _database.CreateCommand(Fill(sql));
        await command.ExecuteNonQueryAsync();
    }

    private string Fill(string text)
    {
        text = text.Replace("{s}", _schema, StringComparison.Ordinal)
            .Replace("{long}", Long, StringComparison.Ordinal)
            .Replace("{short}", Short, StringComparison.Ordinal);
        for (var n = 1; n <= ShortCount; n++)
        {
            text = text.Replace(
                string.Create(CultureInfo.InvariantCulture, $"{{t{n}}}"),
                _answers[n - 1].TransactionId.ToString(), StringComparison.Ordinal);
        }
        return text;
    }
}
