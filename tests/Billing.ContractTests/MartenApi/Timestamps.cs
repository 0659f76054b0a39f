using JasperFx.Events;
using Marten;
using Npgsql;

namespace Billing.ContractTests.MartenApi;

/// <summary>
/// Whether a stored event has the time of the database or of the application. A session in a time zone nine hours ahead makes
/// the difference visible.
/// </summary>
public sealed class Timestamps(PostgresFixture postgres) : StoreTest(postgres)
{
    [Theory]
    [InlineData(EventAppendMode.Quick, "UTC", 0)]
    [InlineData(EventAppendMode.Quick, "Asia/Tokyo", -9)]
    [InlineData(EventAppendMode.QuickWithServerTimestamps, "Asia/Tokyo", 0)]
    public async Task An_append_in_quick_mode_has_the_databases_time_shifted_by_the_sessions_time_zone(
        EventAppendMode mode, string zone, int hoursOff)
    {
        await StartAsync("visa/a", new PaymentAccepted("p1", 1));
        await using var store = StoreIn(zone, mode);
        await using var session = store.LightweightSession();
        session.Events.Append("visa/a", 2, new PaymentAccepted("p2", 1));
        await session.SaveChangesAsync();

        Assert.Equal([(double)hoursOff], await HoursOffAsync(2));
    }

    [Theory]
    [InlineData(EventAppendMode.Quick)]
    [InlineData(EventAppendMode.QuickWithServerTimestamps)]
    public async Task A_stream_start_has_the_applications_time_in_either_mode(EventAppendMode mode)
    {
        await using var store = StoreIn("Asia/Tokyo", mode);
        await using var session = store.LightweightSession();
        session.Events.StartStream("visa/b", new PaymentAccepted("p1", 1));
        await session.SaveChangesAsync();

        Assert.Equal([0d], await HoursOffAsync(1));
    }

    private DocumentStore StoreIn(string zone, EventAppendMode mode) => NewStore(options =>
    {
        options.Connection(new NpgsqlConnectionStringBuilder(ConnectionString) { Timezone = zone }.ConnectionString);
        options.Events.AppendMode = mode;
    });

    private Task<List<double>> HoursOffAsync(long version) => QueryAsync<double>(
        $"""
        select round(extract(epoch from timestamp - now()) / 3600)::float8
        from {Schema}.mt_events where version = {version}
        """);
}
