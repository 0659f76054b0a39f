using JasperFx.Events;
using Marten.Exceptions;
using Npgsql;

namespace Billing.ContractTests.MartenApi;

/// <summary>
/// What a failed save leaves in the database: tombstones for the sequence numbers that the store knows it has taken, which
/// are those of appends. The numbers of streams that the save would have started stay unused.
/// </summary>
public sealed class Failed_saves(PostgresFixture postgres) : StoreTest(postgres)
{
    [Fact]
    public async Task The_sequence_numbers_of_appends_become_tombstones_when_a_later_statement_fails()
    {
        await StartAsync("visa/a", new PaymentAccepted("p1", 1));
        await using (var session = Store.LightweightSession())
        {
            session.Events.Append("visa/a", 3, new PaymentAccepted("p2", 1), new PaymentAccepted("p3", 1));
            session.Events.StartStream("visa/b", new PaymentAccepted("p4", 1));
            session.QueueSqlCommand("select 1 / ?", 0);
            await Assert.ThrowsAsync<MartenCommandException>(() => session.SaveChangesAsync());
        }

        // Tombstones are written in the background; disposing of the store waits for them.
        await Store.DisposeAsync();

        Assert.Equal(["mt_tombstone|0", "visa/a|1"], await StreamsAsync());
        Assert.Equal(
            [
                "1|visa/a|1|payment_accepted",
                "2|mt_tombstone|2|tombstone",
                "3|mt_tombstone|3|tombstone",
            ],
            await EventsAsync());
        Assert.Equal([4L], await QueryAsync<long>($"select last_value from {Schema}.mt_events_sequence"));
        Assert.Equal(
            ["{}|JasperFx.Events.Tombstone, JasperFx.Events|*DEFAULT*"],
            await QueryAsync<string>(
                $"select distinct concat_ws('|', data, mt_dotnet_type, tenant_id) from {Schema}.mt_events where seq_id > 1"));
    }

    [Fact]
    public async Task A_version_conflict_takes_no_sequence_number_and_leaves_an_empty_stream_of_tombstones()
    {
        await StartAsync("visa/a", new PaymentAccepted("p1", 1));
        await using (var session = Store.LightweightSession())
        {
            session.Events.Append("visa/a", 7, new PaymentAccepted("p2", 1));
            await Assert.ThrowsAsync<EventStreamUnexpectedMaxEventIdException>(() => session.SaveChangesAsync());
        }

        await Store.DisposeAsync();

        Assert.Equal(["mt_tombstone|0", "visa/a|1"], await StreamsAsync());
        Assert.Equal(["1|visa/a|1|payment_accepted"], await EventsAsync());
    }

    [Fact]
    public async Task A_stream_collision_takes_no_sequence_number_and_leaves_an_empty_stream_of_tombstones()
    {
        await StartAsync("visa/a", new PaymentAccepted("p1", 1));
        await using (var session = Store.LightweightSession())
        {
            session.Events.StartStream("visa/a", new PaymentAccepted("p2", 1));
            await Assert.ThrowsAsync<ExistingStreamIdCollisionException>(() => session.SaveChangesAsync());
        }

        await Store.DisposeAsync();

        Assert.Equal(["mt_tombstone|0", "visa/a|1"], await StreamsAsync());
        Assert.Equal(["1|visa/a|1|payment_accepted"], await EventsAsync());
    }

    [Fact]
    public async Task A_used_sequence_number_fails_the_save_and_is_not_a_conflict()
    {
        await StartAsync("visa/a", new PaymentAccepted("p1", 1));
        await ExecuteAsync(
            $$"""
            insert into {{Schema}}.mt_events (seq_id, id, stream_id, version, data, type, timestamp)
            values (2, gen_random_uuid(), 'visa/a', 1000, '{}', 'payment_accepted', now())
            """);
        await using var session = Store.LightweightSession();
        session.Events.Append("visa/a", 2, new PaymentAccepted("p2", 1));

        var failed = await Assert.ThrowsAsync<MartenCommandException>(() => session.SaveChangesAsync());

        var cause = Assert.IsType<PostgresException>(failed.InnerException);
        Assert.Equal(PostgresErrorCodes.UniqueViolation, cause.SqlState);
        Assert.Equal("mt_events", cause.TableName);
    }

    [Fact]
    public async Task A_failed_save_without_events_leaves_nothing()
    {
        await StartAsync("visa/a", new PaymentAccepted("p1", 1));
        await using (var session = Store.LightweightSession())
        {
            session.QueueSqlCommand("select 1 / ?", 0);
            var failed = await Assert.ThrowsAsync<MartenCommandException>(() => session.SaveChangesAsync());
            Assert.IsType<PostgresException>(failed.InnerException);
            Assert.Null(failed.Command);
        }

        await Store.DisposeAsync();

        Assert.Equal(["visa/a|1"], await StreamsAsync());
    }

    private Task<List<string>> StreamsAsync() => QueryAsync<string>(
        $"select concat_ws('|', id, version) from {Schema}.mt_streams order by id");

    private Task<List<string>> EventsAsync() => QueryAsync<string>(
        $"select concat_ws('|', seq_id, stream_id, version, type) from {Schema}.mt_events order by seq_id");
}
