using Billing.Contracts;
using Billing.LocalStack;
using Billing.V1;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>Somebody changes the tables of the event store so that they refuse what is to be recorded,
/// and changes them back.</summary>
public sealed class SchemaChanges(SchemaChanges.PatientStack stack) : IClassFixture<SchemaChanges.PatientStack>
{
    private static readonly string[] Tables = ["mt_events", "mt_streams", "open_holds"];

    /// <summary>What may be added to a table, how it is taken away again, and the SQLSTATE of the refusal.</summary>
    private static readonly (string Name, string Change, string Back, string State)[] Kinds =
    [
        ("a column without a default",
            "alter table {0} add column more int not null default 1; alter table {0} alter column more drop default",
            "alter table {0} drop column more", "23502"),
        ("a check", "alter table {0} add constraint more check (false) not valid",
            "alter table {0} drop constraint more", "23514"),
        ("a foreign key",
            "create table billing.others (id varchar primary key); "
                + "alter table {0} add constraint more foreign key ({1}) references billing.others not valid",
            "alter table {0} drop constraint more; drop table billing.others", "23503"),
        ("a unique index", "create unique index more on {0} ((1)) where {1} = '{2}'",
            "drop index billing.more", "23505"),
        ("an exclusion", "alter table {0} add constraint more exclude using btree ((1) with =) where ({1} = '{2}')",
            "alter table {0} drop constraint more", "23P01"),
        ("a trigger that raises",
            "create function billing.more() returns trigger language plpgsql as 'begin raise exception ''not now''; "
                + "end'; create trigger more before insert on {0} for each row execute function billing.more()",
            "drop function billing.more() cascade", "P0001"),
        ("a default that is too long",
            "alter table {0} add column more varchar(3); alter table {0} alter column more set default repeat('x', 9)",
            "alter table {0} drop column more", "22001"),
        ("a default that is out of range",
            "alter table {0} add column more smallint; alter table {0} alter column more set default 99999",
            "alter table {0} drop column more", "22003"),
        ("a default that cannot be read",
            "create function billing.more() returns int language sql as 'select ''x''::text::int'; "
                + "alter table {0} add column more int; alter table {0} alter column more set default billing.more()",
            "alter table {0} drop column more; drop function billing.more()", "22P02"),
    ];

    /// <summary>Each of these for each table; but an account has one row of mt_streams, which no further index than
    /// its key can refuse.</summary>
    public static TheoryData<string, string> Changes =>
        [.. from table in Tables
            from kind in Kinds
            where table != "mt_streams" || !IsOfTwoRows(kind.State)
            select (table, kind.Name)];

    [Theory]
    [MemberData(nameof(Changes))]
    public async Task While_the_tables_refuse_commands_they_wait_and_the_service_says_why_and_no_command_is_to_blame(
        string table, string name)
    {
        using var patience = new CancellationTokenSource(Patience, TimeProvider.System);
        var (account, kind) = (StackFixture.NewAccount(), Kinds.Single(kind => kind.Name == name));
        var stream = StreamId.For(PaymentType.Visa, account);
        var column = table == "mt_streams" ? "id" : "stream_id";
        string Of(string sql) => sql.Replace("{0}", "billing." + table, StringComparison.Ordinal)
            .Replace("{1}", column, StringComparison.Ordinal).Replace("{2}", stream, StringComparison.Ordinal);
        if (IsOfTwoRows(kind.State))
        {
            await HoldAsync(account);
        }
        await ExecuteAsync(Of(kind.Change));
        var waiting = HoldAsync(account);
        try
        {
            await SaysAsync(
                $"the database billing of the event store refuses what is to be recorded: {kind.State}: ",
                waiting, patience.Token);
        }
        finally
        {
            await ExecuteAsync(Of(kind.Back));
        }

        Assert.Equal(PaymentOutcome.Accepted, (await waiting).Outcome);
        await SaysAsync("ready", null, patience.Token);
    }

    private static bool IsOfTwoRows(string state) => state is "23505" or "23P01";

    private async Task<AuthorisePaymentResponse> HoldAsync(string account) => await stack.Proxy().AuthorisePaymentAsync(
        new AuthorisePaymentRequest
        {
            TransactionId = Guid.NewGuid().ToString(),
            AccountId = account,
            PaymentType = PaymentType.Visa,
            Amount = 5m.ToMoney("USD"),
        },
        deadline: TimeProvider.System.GetUtcNow().UtcDateTime.AddMinutes(4));

    private async Task SaysAsync(string expected, Task? waiting, CancellationToken cancellationToken)
    {
        using var http = new HttpClient { BaseAddress = new Uri(stack.Stack.RestAddresses[0]) };
        await Poll.UntilAsync(
            async () =>
            {
                using var answer = await http.GetAsync(new Uri("/health/ready", UriKind.Relative), cancellationToken);
                var said = await answer.Content.ReadAsStringAsync(cancellationToken);
                Assert.False(
                    waiting is { IsCompleted: true }, $"{said}; answered: {waiting?.Exception?.Message ?? "accepted"}");
                return waiting is null ? said == expected : said.Contains(expected, StringComparison.Ordinal);
            },
            cancellationToken);
    }

    private async Task ExecuteAsync(string sql)
    {
        await using var database = NpgsqlDataSource.Create(stack.ConnectionString);
        await using var command = database.CreateCommand(sql);
        await command.ExecuteNonQueryAsync(CancellationToken.None);
    }

    /// <summary>A stack whose callers wait until the tables are as they were.</summary>
    public sealed class PatientStack() : StackFixture(new StackOptions
    {
        Kafka = "embedded",
        Settings = new Dictionary<string, string> { ["Billing__Backend__StoreUnavailableMax"] = "00:10:00" },
    });
}
