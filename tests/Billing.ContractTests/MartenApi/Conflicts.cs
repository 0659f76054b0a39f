using JasperFx;
using JasperFx.Events;
using Marten.Exceptions;

namespace Billing.ContractTests.MartenApi;

public sealed class Conflicts(PostgresFixture postgres) : StoreTest(postgres)
{
    [Fact]
    public async Task An_append_at_an_outdated_version_is_rejected()
    {
        await StartAsync("visa/a", new PaymentAccepted("p1", 1), new PaymentAccepted("p2", 1));
        await using var session = Store.LightweightSession();
        session.Events.Append("visa/a", 2, new PaymentAccepted("p3", 1));

        var refused = await Assert.ThrowsAsync<EventStreamUnexpectedMaxEventIdException>(
            () => session.SaveChangesAsync());

        Assert.IsAssignableFrom<ConcurrencyException>(refused);
        Assert.Equal(2, (await FetchAsync("visa/a")).Count);
    }

    [Fact]
    public async Task An_append_that_would_leave_a_gap_is_rejected()
    {
        await StartAsync("visa/b", new PaymentAccepted("p1", 1));
        await using var session = Store.LightweightSession();
        session.Events.Append("visa/b", 5, new PaymentAccepted("p2", 1));

        await Assert.ThrowsAsync<EventStreamUnexpectedMaxEventIdException>(() => session.SaveChangesAsync());

        Assert.Single(await FetchAsync("visa/b"));
    }

    [Fact]
    public async Task An_append_that_expects_a_missing_stream_stores_nothing()
    {
        await using var session = Store.LightweightSession();
        session.Events.Append("visa/nobody", 5, new PaymentAccepted("p2", 1));

        await Assert.ThrowsAsync<EventStreamUnexpectedMaxEventIdException>(() => session.SaveChangesAsync());

        Assert.Empty(await FetchAsync("visa/nobody"));
    }

    [Fact]
    public async Task Starting_an_existing_stream_is_rejected_with_the_id_of_the_first_started_stream()
    {
        await StartAsync("visa/c", new PaymentAccepted("p1", 1));
        await using var session = Store.LightweightSession();
        session.Events.StartStream("visa/free", new PaymentAccepted("p2", 1));
        session.Events.StartStream("visa/c", new PaymentAccepted("p2", 1));

        var refused = await Assert.ThrowsAsync<ExistingStreamIdCollisionException>(() => session.SaveChangesAsync());

        Assert.Equal("visa/free", refused.Id);
        Assert.IsAssignableFrom<MartenException>(refused);
        Assert.Single(await FetchAsync("visa/c"));
        Assert.Empty(await FetchAsync("visa/free"));
    }

    [Fact]
    public async Task An_append_that_expects_no_stream_is_rejected_if_the_stream_exists()
    {
        await StartAsync("visa/d", new PaymentAccepted("p1", 1));
        await using var session = Store.LightweightSession();
        session.Events.Append("visa/d", 1, new PaymentAccepted("p2", 1));

        await Assert.ThrowsAsync<EventStreamUnexpectedMaxEventIdException>(() => session.SaveChangesAsync());

        Assert.Single(await FetchAsync("visa/d"));
    }

    [Fact]
    public async Task One_version_conflict_rolls_back_the_session_and_is_reported_with_the_id_of_the_first_append()
    {
        await StartAsync("visa/stale", new PaymentAccepted("p1", 1), new PaymentAccepted("p2", 1));
        await StartAsync("visa/fine", new PaymentAccepted("p1", 1));
        await using var session = Store.LightweightSession();
        session.Events.StartStream("visa/new", new PaymentAccepted("p3", 1));
        session.Events.Append("visa/fine", 2, new PaymentAccepted("p3", 1));
        session.Events.Append("visa/stale", 2, new PaymentAccepted("p3", 1));

        var refused = await Assert.ThrowsAsync<EventStreamUnexpectedMaxEventIdException>(
            () => session.SaveChangesAsync());

        Assert.Equal("visa/fine", refused.Id);
        Assert.Empty(await FetchAsync("visa/new"));
        Assert.Single(await FetchAsync("visa/fine"));
    }

    [Fact]
    public async Task Of_two_sessions_at_the_same_version_the_second_is_rejected()
    {
        await StartAsync("visa/f", new PaymentAccepted("p1", 1));
        await using var first = Store.LightweightSession();
        await using var second = Store.LightweightSession();
        first.Events.Append("visa/f", 2, new PaymentAccepted("first", 1));
        second.Events.Append("visa/f", 2, new PaymentAccepted("second", 1));

        await first.SaveChangesAsync();
        await Assert.ThrowsAsync<EventStreamUnexpectedMaxEventIdException>(() => second.SaveChangesAsync());

        Assert.Equal(new PaymentAccepted("first", 1), (await FetchAsync("visa/f"))[1].Data);
    }

    [Fact]
    public async Task Of_eight_sessions_at_the_same_version_one_succeeds()
    {
        await StartAsync("visa/g", new PaymentAccepted("p0", 1));

        foreach (var version in Enumerable.Range(2, 10))
        {
            var outcomes = await RaceAsync(session =>
                session.Events.Append("visa/g", version, new PaymentAccepted($"p{version}", 1)));

            Assert.Single(outcomes, outcome => outcome is null);
            Assert.All(
                outcomes.Where(outcome => outcome is not null),
                outcome => Assert.IsType<EventStreamUnexpectedMaxEventIdException>(outcome));
        }

        Assert.Equal(Enumerable.Range(1, 11), (await FetchAsync("visa/g")).Select(e => (int)e.Version));
    }

    [Fact]
    public async Task Of_eight_sessions_that_start_the_same_stream_one_succeeds()
    {
        foreach (var round in Enumerable.Range(0, 10))
        {
            var outcomes = await RaceAsync(session =>
                session.Events.StartStream($"visa/{round}", new PaymentAccepted("p1", 1)));

            Assert.Single(outcomes, outcome => outcome is null);
            Assert.All(
                outcomes.Where(outcome => outcome is not null),
                outcome => Assert.IsType<ExistingStreamIdCollisionException>(outcome));
        }
    }

    [Fact]
    public async Task Eight_sessions_over_the_same_streams_in_any_order_leave_no_gap()
    {
        string[] streams = [.. Enumerable.Range(0, 50).Select(i => $"visa/{i}")];
        foreach (var stream in streams)
        {
            await StartAsync(stream, new PaymentAccepted("p1", 1));
        }

        var seed = 0;
        var outcomes = await RaceAsync(session =>
        {
            var order = streams.ToArray();
            new Random(Interlocked.Increment(ref seed)).Shuffle(order);
            foreach (var stream in order)
            {
                session.Events.Append(stream, 2, new PaymentAccepted("p2", 1));
            }
        });

        Assert.Single(outcomes, outcome => outcome is null);
        Assert.Equal([50L], await QueryAsync<long>($"select count(*) from {Schema}.mt_streams where version = 2"));
        Assert.Equal(
            [100L],
            await QueryAsync<long>($"select count(*) from {Schema}.mt_events where stream_id <> 'mt_tombstone'"));
    }

    private async Task<Exception?[]> RaceAsync(Action<Marten.IDocumentSession> change)
    {
        var start = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var racers = Enumerable.Range(0, 8).Select(async _ =>
        {
            await using var session = Store.LightweightSession();
            change(session);
            await start.Task;
            return await Record.ExceptionAsync(() => session.SaveChangesAsync());
        }).ToArray();
        start.SetResult();
        return await Task.WhenAll(racers);
    }
}
