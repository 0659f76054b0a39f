using Billing.Backends.EventStore.Shards;
using Npgsql;

namespace Billing.UnitTests.Backends.EventStore;

public sealed class ShardMapTests
{
    private const int TheShard = 7;

    private readonly ManualTime _time = new();
    private readonly FakeAccountStore _one = new();
    private readonly FakeAccountStore _other = new();
    private readonly ShardMap _map;

    public ShardMapTests()
    {
        _other.Shards.Clear();
        _map = new ShardMap([_one, _other], _time);
    }

    [Fact]
    public async Task The_answer_of_a_slow_database_counts_when_it_comes_and_it_is_asked_once()
    {
        await _map.RefreshAsync();
        _one.Shards.Remove(TheShard);
        _other.Shards[TheShard] = 2;
        var answered = new TaskCompletionSource();
        var asked = 0;
        _other.ShardsAsked = () => asked++;
        _other.TellingShards = () => answered.Task;

        for (var i = 0; i < 3; i++)
        {
            var refreshing = _map.RefreshAsync();
            _time.Advance(TimeSpan.FromSeconds(1));
            await refreshing;
            Assert.Equal(ShardMap.Nowhere, _map.Find(TheShard));
        }
        answered.SetResult();
        await _map.RefreshAsync();

        Assert.Equal(1, _map.Find(TheShard));
        Assert.Equal(1, asked);
    }

    [Fact]
    public async Task A_database_that_cannot_be_asked_holds_up_no_other()
    {
        _other.TellingShards = () => Task.FromException(new NpgsqlException("The server is gone."));

        await _map.RefreshAsync();

        Assert.Equal(0, _map.Find(TheShard));
    }

    [Fact]
    public async Task A_late_answer_from_before_a_move_gives_nothing_back()
    {
        var answered = new TaskCompletionSource();
        _one.TellingShards = () => answered.Task;
        var refreshing = _map.RefreshAsync();
        _time.Advance(TimeSpan.FromSeconds(1));
        await refreshing;
        _other.Shards[TheShard] = 2;
        answered.SetResult();

        await _map.RefreshAsync();

        Assert.Equal(1, _map.Find(TheShard));
    }
}
