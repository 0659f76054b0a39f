using Billing.Backends;
using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Logging.Testing;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.UnitTests.Backends.Balances;

public sealed class BalanceReadModelTests : IAsyncLifetime
{
    private const string Stream = "visa/acct-42";

    private static readonly Account Opened = Limits.Opened(1000);
    private static readonly Account Stored = new(3, 60, 1000, "USD");

    private readonly ManualTime _time = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly FakeAccountStore _store = new();
    private readonly BalanceView _view;
    private readonly ShardMap _map;
    private readonly BalanceReadModel _model;

    public BalanceReadModelTests()
    {
        _store.Accounts[Stream] = Stored;
        _view = new BalanceView(Opened, capacity: 10, _time);
        _map = new ShardMap([_store], _time);
        _model = NewModel(_map);
    }

    public async ValueTask InitializeAsync() => await _map.RefreshAsync();

    public ValueTask DisposeAsync()
    {
        _model.Dispose();
        _stop.Dispose();
        return ValueTask.CompletedTask;
    }

    [Fact]
    public async Task An_account_that_misses_an_event_is_read_from_the_store()
    {
        _view.Complete();
        var running = _model.RunAsync(_stop.Token);
        _model.Apply([History.Of(Stream, 10, 20, 30)[2]]);

        await UntilAsync(() => _view.Find(Stream) == Stored);

        await EndAsync(running);
    }

    [Fact]
    public async Task An_unavailable_store_is_queried_until_it_answers()
    {
        var failures = 30;
        _store.Loading = _ => failures-- > 0 ? new NpgsqlException("unavailable", new IOException()) : null;
        var running = _model.RunAsync(_stop.Token);
        _model.Apply([History.Of(Stream, 10, 20, 30)[2]]);

        await UntilAsync(() => _view.Find(Stream) == Stored);

        await EndAsync(running);
    }

    [Fact]
    public async Task After_a_reset_all_accounts_are_read_and_others_are_then_known_to_have_no_events()
    {
        AddAccounts(8);
        var running = _model.RunAsync(_stop.Token);
        _model.Reset();

        await UntilAsync(() => _view.Find("visa/none") == Opened);

        Assert.All(_store.Accounts, stored => Assert.Equal(stored.Value, _view.Find(stored.Key)));
        await EndAsync(running);
    }

    [Fact]
    public async Task A_full_view_reads_no_more_accounts()
    {
        AddAccounts(30);
        var running = _model.RunAsync(_stop.Token);
        _model.Reset();

        await UntilAsync(() => _view.IsFull);
        _model.Reset();
        await UntilAsync(() => _view.IsFull);

        Assert.InRange(_view.Count, 8, 10);
        Assert.Null(_view.Find("visa/none"));
        await EndAsync(running);
    }

    [Fact]
    public async Task If_one_account_cannot_be_read_the_others_are_and_those_not_held_stay_unknown()
    {
        AddAccounts(6);
        _store.Loading = ids => ids.Contains("visa/3")
            ? new PostgresException("invalid page", "ERROR", "ERROR", PostgresErrorCodes.DataCorrupted)
            : null;
        var running = _model.RunAsync(_stop.Token);
        _model.Reset();

        await UntilAsync(() => _view.Count == 6);
        _store.Accounts["visa/last"] = Stored;
        _model.Apply([History.Of("visa/last", 10, 20, 30)[2]]);
        await UntilAsync(() => _view.Find("visa/last") == Stored);

        Assert.Null(_view.Find("visa/3"));
        Assert.Null(_view.Find("visa/none"));
        await EndAsync(running);
    }

    /// <summary>An event that the view cannot apply, since a newer release has written it, and the store
    /// cannot read either.</summary>
    [Fact]
    public async Task An_account_whose_next_event_cannot_be_read_is_not_answered_as_it_was()
    {
        AddAccounts(2);
        var running = _model.RunAsync(_stop.Token);
        _model.Reset();
        await UntilAsync(() => _view.Count == 3);
        _store.Loading = ids =>
            ids.Contains("visa/2") ? new UnknownEventTypeException("payment_accepted_v1", "Overdraft") : null;

        _model.Apply([new Wire.V1.Event { StreamId = "visa/2", Version = 3 }]);

        await UntilAsync(() => _view.Find("visa/2") is null);
        Assert.NotNull(_view.Find("visa/1"));
        await EndAsync(running);
    }

    [Fact]
    public async Task If_a_shard_is_moved_to_a_database_that_was_read_before_all_accounts_are_read_again()
    {
        const string Moved = "visa/acct-1";
        var shard = Shard.Of(Moved);
        var other = new FakeAccountStore { Accounts = { [Moved] = Stored } };
        other.Shards.Clear();
        _store.Shards.Remove(shard, out var epoch);
        other.Shards[shard] = epoch;
        var map = new ShardMap([_store, other], _time);
        await map.RefreshAsync();
        using var model = NewModel(map);
        var (asked, moved) = (new TaskCompletionSource(), new TaskCompletionSource());
        _store.Answering = async () =>
        {
            _store.Answering = () => Task.CompletedTask;
            await asked.Task;
            (_store.Shards[shard], _store.Accounts[Moved]) = (epoch + 1, Stored);
            other.Shards.Remove(shard);
            other.Accounts.Remove(Moved);
            moved.SetResult();
        };
        other.TellingShards = () =>
        {
            asked.TrySetResult();
            return moved.Task;
        };
        var running = model.RunAsync(_stop.Token);
        model.Reset();

        await UntilAsync(() => _view.Find("visa/none") == Opened);

        Assert.Equal(Stored, _view.Find(Moved));
        await EndAsync(running);
    }

    [Fact]
    public async Task While_the_database_is_away_so_many_accounts_wait_to_be_read_and_further_ones_are_forgotten()
    {
        const int Waiting = 10_000;
        var (view, log) = (new BalanceView(Opened, 3 * Waiting, _time), new FakeLogger<BalanceReadModel>());
        using var model = NewModel(_map, view, log);
        AddAccounts(2 * Waiting);
        var away = new TaskCompletionSource();
        _store.Answering = () => away.Task;
        model.Apply([.. Enumerable.Range(1, 2 * Waiting).SelectMany(n => History.Of($"visa/{n}", 10))]);
        var running = model.RunAsync(_stop.Token);
        Assert.Contains("forgets", Assert.Single(log.Collector.GetSnapshot()).Message, StringComparison.Ordinal);

        away.SetResult();
        await UntilAsync(() => view.Count == Waiting);
        view.Complete();
        Assert.Null(view.Find("visa/none"));

        model.Apply(History.Of(Stream, 10, 20, 30));
        await UntilAsync(() => view.Find(Stream) == Stored);
        Assert.Equal(Waiting + 1, view.Count);
        await EndAsync(running);
    }

    private BalanceReadModel NewModel(
        ShardMap map, BalanceView? view = null, ILogger<BalanceReadModel>? logger = null) => new(
            view ?? _view, map, new EventStoreRetry(_time), Options.Create(new BackendOptions { BatchMax = 4 }),
            Supervision.New(), _time, logger ?? NullLogger<BalanceReadModel>.Instance);

    private void AddAccounts(int count)
    {
        foreach (var n in Enumerable.Range(1, count))
        {
            _store.Accounts[$"visa/{n}"] = new Account(n, n, 1000, "USD");
        }
    }

    // It takes milliseconds; without a bound, a model that never reads would hang the test instead of failing it.
    private async Task UntilAsync(Func<bool> holds)
    {
        using var patience = new CancellationTokenSource(TimeSpan.FromMinutes(1), TimeProvider.System);
        while (!holds())
        {
            patience.Token.ThrowIfCancellationRequested();
            _time.Advance(TimeSpan.FromSeconds(1));
            await Task.Yield();
        }
    }

    private async Task EndAsync(Task running)
    {
        await _stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
    }
}
