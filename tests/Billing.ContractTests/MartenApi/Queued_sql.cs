using Marten.Exceptions;
using Npgsql;

namespace Billing.ContractTests.MartenApi;

public sealed class Queued_sql(PostgresFixture postgres) : StoreTest(postgres)
{
    private string Receipts => $"{Schema}.receipts";

    [Fact]
    public async Task A_queued_statement_accepts_arrays_and_commits_with_the_events()
    {
        await CreateTableAsync();
        var at = new DateTimeOffset(2026, 11, 21, 12, 0, 0, TimeSpan.Zero);
        Guid[] ids = [Guid.NewGuid(), Guid.NewGuid()];
        string[] names = ["x", "y"];
        long[] numbers = [1, 2];
        byte[][] answers = [[1, 2], []];
        DateTimeOffset[] times = [at, at.AddSeconds(1)];
        await using var session = Store.LightweightSession();
        session.Events.StartStream("visa/a", new PaymentAccepted("p1", 1));
        session.QueueSqlCommand(
            $"insert into {Receipts} select * from "
                + "unnest(?::uuid[], ?::text[], ?::bigint[], ?::bytea[], ?::timestamptz[])",
            ids,
            names,
            numbers,
            answers,
            times);
        await session.SaveChangesAsync();

        Assert.Equal(ids, await QueryAsync<Guid>($"select id from {Receipts} order by number"));
        Assert.Equal(answers, await QueryAsync<byte[]>($"select answer from {Receipts} order by number"));
        Assert.Equal(times, await QueryAsync<DateTimeOffset>($"select at from {Receipts} order by number"));
        Assert.Single(await FetchAsync("visa/a"));
    }

    [Fact]
    public async Task Statements_run_in_the_order_in_which_they_were_queued()
    {
        await CreateTableAsync();
        await using var session = Store.LightweightSession();
        session.QueueSqlCommand($"insert into {Receipts} (name, number) values (?, ?)", "p1", 1L);
        session.QueueSqlCommand($"update {Receipts} set number = number + ? where name = ?", 5L, "p1");
        await session.SaveChangesAsync();

        Assert.Equal([6L], await QueryAsync<long>($"select number from {Receipts}"));
    }

    [Fact]
    public async Task A_unique_violation_names_its_constraint_and_rolls_back_the_events()
    {
        await CreateTableAsync();
        await ExecuteAsync($"insert into {Receipts} (name) values ('taken')");
        await using var session = Store.LightweightSession();
        session.Events.StartStream("visa/b", new PaymentAccepted("p1", 1));
        session.QueueSqlCommand("select 1");
        session.QueueSqlCommand($"insert into {Receipts} (name) values (?)", "free");
        session.QueueSqlCommand($"insert into {Receipts} (name) values (?)", "taken");

        var refused = await Assert.ThrowsAsync<MartenCommandException>(() => session.SaveChangesAsync());

        var cause = Assert.IsType<PostgresException>(refused.InnerException);
        Assert.Equal(PostgresErrorCodes.UniqueViolation, cause.SqlState);
        Assert.Equal("one_receipt_a_name", cause.ConstraintName);
        Assert.Empty(await FetchAsync("visa/b"));
        Assert.Equal(["taken"], await QueryAsync<string>($"select name from {Receipts}"));
    }

    [Fact]
    public async Task A_version_conflict_rolls_back_the_queued_statement()
    {
        await CreateTableAsync();
        await StartAsync("visa/c", new PaymentAccepted("p1", 1), new PaymentAccepted("p2", 1));
        await using var session = Store.LightweightSession();
        session.Events.Append("visa/c", 2, new PaymentAccepted("p3", 1));
        session.QueueSqlCommand($"insert into {Receipts} (name) values (?)", "p3");

        await Assert.ThrowsAsync<JasperFx.Events.EventStreamUnexpectedMaxEventIdException>(
            () => session.SaveChangesAsync());

        Assert.Empty(await QueryAsync<string>($"select name from {Receipts}"));
    }

    private Task CreateTableAsync() => ExecuteAsync(
        $"""
        create schema if not exists {Schema};
        create table {Receipts} (id uuid, name text constraint one_receipt_a_name unique, number bigint, answer bytea,
            at timestamptz)
        """);
}
