using JasperFx.Events;

namespace Billing.ContractTests.MartenApi;

public sealed class Appending_events(PostgresFixture postgres) : StoreTest(postgres)
{
    [Fact]
    public async Task A_started_stream_reads_back_in_order_with_its_metadata()
    {
        await StartAsync("visa/a", new PaymentAccepted("p1", 10.5m), new PaymentDeclined("p2", Reason.Limit));

        var events = await FetchAsync("visa/a");

        Assert.Equal([1L, 2L], events.Select(e => e.Version));
        Assert.Equal(new PaymentAccepted("p1", 10.5m), events[0].Data);
        Assert.Equal(new PaymentDeclined("p2", Reason.Limit), events[1].Data);
        Assert.All(events, e => Assert.Equal("visa/a", e.StreamKey));
        Assert.All(events, e => Assert.NotEqual(Guid.Empty, e.Id));
        Assert.All(events, e => Assert.Equal("*DEFAULT*", e.TenantId));
        Assert.Equal("payment_declined", events[1].EventTypeName);
        Assert.True(events[0].Sequence < events[1].Sequence);
    }

    [Fact]
    public async Task An_append_is_given_the_version_that_the_stream_has_after_it()
    {
        await StartAsync("visa/b", new PaymentAccepted("p1", 1));
        await using var session = Store.LightweightSession();

        session.Events.Append("visa/b", 3, new PaymentAccepted("p2", 2), new PaymentAccepted("p3", 3));
        await session.SaveChangesAsync();

        Assert.Equal([1L, 2L, 3L], (await FetchAsync("visa/b")).Select(e => e.Version));
    }

    [Fact]
    public async Task One_session_can_start_streams_and_append_to_others()
    {
        await StartAsync("visa/checked", new PaymentAccepted("p1", 1));
        await using var session = Store.LightweightSession();

        session.Events.StartStream("visa/started", new PaymentAccepted("p1", 1), new PaymentAccepted("p2", 1));
        session.Events.Append("visa/checked", 2, new PaymentAccepted("p2", 1));
        await session.SaveChangesAsync();

        Assert.Equal([1L, 2L], (await FetchAsync("visa/started")).Select(e => e.Version));
        Assert.Equal([1L, 2L], (await FetchAsync("visa/checked")).Select(e => e.Version));
    }

    [Fact]
    public async Task Two_thousand_streams_are_saved_in_one_session_in_the_order_of_their_appends()
    {
        await using var session = Store.LightweightSession();
        foreach (var i in Enumerable.Range(0, 2000))
        {
            session.Events.StartStream($"visa/{i * 7919 % 2000}", new PaymentAccepted($"{i}", i));
        }

        await session.SaveChangesAsync();

        var payments = await QueryAsync<string>($"select data ->> 'payment' from {Schema}.mt_events order by seq_id");
        Assert.Equal(Enumerable.Range(0, 2000).Select(i => $"{i}"), payments);
        Assert.Equal([2000L], await QueryAsync<long>($"select count(*) from {Schema}.mt_streams where version = 1"));
    }

    [Fact]
    public async Task Two_thousand_streams_are_appended_to_in_one_session()
    {
        var streams = Enumerable.Range(0, 2000).Select(i => $"visa/{i}").ToArray();
        foreach (var version in new[] { 1, 2 })
        {
            await using var session = Store.LightweightSession();
            foreach (var stream in streams)
            {
                session.Events.Append(stream, version, new PaymentAccepted($"p{version}", 1));
            }

            await session.SaveChangesAsync();
        }

        Assert.Equal([2000L], await QueryAsync<long>($"select count(*) from {Schema}.mt_streams where version = 2"));
        Assert.Equal([4000L], await QueryAsync<long>($"select count(*) from {Schema}.mt_events"));
    }

    [Fact]
    public async Task A_session_can_be_saved_again()
    {
        await using var session = Store.LightweightSession();
        session.Events.StartStream("visa/d", new PaymentAccepted("p1", 1));
        await session.SaveChangesAsync();
        await session.SaveChangesAsync();

        session.Events.Append("visa/d", 2, new PaymentAccepted("p2", 2));
        await session.SaveChangesAsync();

        Assert.Equal(2, (await FetchAsync("visa/d")).Count);
    }

    [Fact]
    public async Task A_stream_cannot_be_started_without_events()
    {
        await using var session = Store.LightweightSession();

        Assert.Throws<EmptyEventStreamException>(() => session.Events.StartStream("visa/f", Array.Empty<object>()));
    }
}
