namespace Billing.ContractTests.MartenApi;

public sealed class Fetching_streams(PostgresFixture postgres) : StoreTest(postgres)
{
    [Fact]
    public async Task A_missing_stream_has_no_events()
    {
        await using var session = Store.QuerySession();

        Assert.Empty(await session.Events.FetchStreamAsync("nobody"));
    }

    [Theory]
    [InlineData(0, 0, new[] { 1L, 2, 3, 4 })]
    [InlineData(2, 0, new[] { 1L, 2 })]
    [InlineData(0, 3, new[] { 3L, 4 })]
    [InlineData(3, 2, new[] { 2L, 3 })]
    public async Task A_stream_can_be_read_from_and_up_to_a_version(long version, long fromVersion, long[] expected)
    {
        await StartAsync(
            "visa/b",
            new PaymentAccepted("p1", 1),
            new PaymentAccepted("p2", 1),
            new PaymentAccepted("p3", 1),
            new PaymentAccepted("p4", 1));
        await using var session = Store.QuerySession();

        var events = await session.Events.FetchStreamAsync("visa/b", version, fromVersion: fromVersion);

        Assert.Equal(expected, events.Select(e => e.Version));
    }

    [Fact]
    public async Task A_stream_can_be_read_up_to_a_time()
    {
        await StartAsync("visa/c", new PaymentAccepted("p1", 1));
        await using var session = Store.LightweightSession();
        var first = (await session.Events.FetchStreamAsync("visa/c"))[0].Timestamp;
        await ExecuteAsync($"update {Schema}.mt_events set timestamp = timestamp - interval '1 hour'");
        session.Events.Append("visa/c", 2, new PaymentAccepted("p2", 1));
        await session.SaveChangesAsync();

        var events = await session.Events.FetchStreamAsync("visa/c", timestamp: first.AddMinutes(-30));

        Assert.Equal(1, Assert.Single(events).Version);
    }

    [Fact]
    public async Task An_event_stored_under_an_old_name_is_upcast_when_read()
    {
        await StartAsync("visa/d", new LimitChangedV1(100));
        await using var tomorrow = NewStore(options =>
            options.Events.Upcast<LimitChangedV1, LimitChangedV2>(
                "limit_changed_v1",
                old => new LimitChangedV2(old.Limit, "EUR")));
        await using var session = tomorrow.LightweightSession();
        session.Events.Append("visa/d", 2, new LimitChangedV2(200, "USD"));
        await session.SaveChangesAsync();

        var events = await session.Events.FetchStreamAsync("visa/d");

        Assert.Equal([new LimitChangedV2(100, "EUR"), new LimitChangedV2(200, "USD")], events.Select(e => e.Data));
        Assert.Equal(
            ["limit_changed_v1", "limit_changed_v2"],
            await QueryAsync<string>($"select type from {Schema}.mt_events order by seq_id"));
    }

    [Fact]
    public async Task An_event_can_be_upcast_from_an_explicit_name()
    {
        await StartAsync("visa/e", new LimitChangedV1(100));
        await ExecuteAsync($"update {Schema}.mt_events set type = 'limit_changed', mt_dotnet_type = 'Gone, Gone'");
        await using var tomorrow = NewStore(options => options.Events.Upcast<LimitChangedV1, LimitChangedV2>(
            "limit_changed",
            old => new LimitChangedV2(old.Limit, "EUR")));
        await using var session = tomorrow.QuerySession();

        var events = await session.Events.FetchStreamAsync("visa/e");

        Assert.Equal(new LimitChangedV2(100, "EUR"), Assert.Single(events).Data);
    }

    [Fact]
    public async Task An_event_type_can_be_stored_under_an_explicit_name()
    {
        await using var store = NewStore(options => options.Events.MapEventType<PaymentAccepted>("accepted"));
        await using var session = store.LightweightSession();
        session.Events.StartStream("visa/f", new PaymentAccepted("p1", 1));
        await session.SaveChangesAsync();

        Assert.Equal(["accepted"], await QueryAsync<string>($"select type from {Schema}.mt_events"));
        Assert.IsType<PaymentAccepted>((await session.Events.FetchStreamAsync("visa/f"))[0].Data);
    }

    public sealed record LimitChangedV1(decimal Limit);
}
