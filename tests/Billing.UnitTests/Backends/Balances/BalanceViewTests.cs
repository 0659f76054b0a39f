using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;

namespace Billing.UnitTests.Backends.Balances;

public sealed class BalanceViewTests
{
    private const string Stream = "visa/acct-42";

    private static readonly Account Opened = Limits.Opened(1000);

    private readonly ManualTime _time = new();
    private readonly FakeAccountStore _store = new();
    private readonly BalanceView _view;

    public BalanceViewTests() => _view = NewView();

    [Fact]
    public void An_account_without_events_is_as_opened()
    {
        Assert.Equal(Opened, _view.Find(Stream));
        Assert.Equal(0, _view.Count);
    }

    [Fact]
    public void Events_in_order_are_applied()
    {
        Assert.Empty(_view.Apply([.. History.Of(Stream, 10, 20)]));

        Assert.Equal(new Account(2, 30, 1000, "USD"), _view.Find(Stream));
        Assert.Equal(1, _view.Count);
    }

    [Fact]
    public void An_event_that_was_already_applied_changes_nothing()
    {
        var events = History.Of(Stream, 10, 20, 30);
        _view.Apply(events);

        Assert.Empty(_view.Apply([events[0], events[2], events[1]]));

        Assert.Equal(60, _view.Find(Stream)!.Balance);
    }

    [Fact]
    public void Events_after_a_skipped_version_are_reported_once_and_not_applied()
    {
        var events = History.Of(Stream, 10, 20, 30, 40);
        _view.Apply([events[0]]);

        Assert.Equal([Stream], _view.Apply([events[2], events[3]]));

        Assert.Equal(1, _view.Find(Stream)!.Version);
    }

    [Fact]
    public async Task An_account_read_from_the_store_closes_the_gap()
    {
        var events = History.Of(Stream, 10, 20, 30, 40);
        _view.Apply([events[0], events[2]]);

        await PutAsync(Stream, new Account(3, 60, 1000, "USD"));

        Assert.Empty(_view.Apply([events[2], events[3]]));
        Assert.Equal(new Account(4, 100, 1000, "USD"), _view.Find(Stream));
    }

    [Fact]
    public async Task An_event_that_contradicts_the_previous_one_causes_a_read_from_the_store()
    {
        var real = History.Of(Stream, 10, 20, 30);
        _view.Apply([real[0], History.Of(Stream, 10, 15)[1]]);

        Assert.Equal([Stream], _view.Apply([real[1]]));
        // No event is applied to a state in doubt.
        Assert.Equal([Stream], _view.Apply([real[2]]));
        await PutAsync(Stream, new Account(2, 30, 1000, "USD"));

        Assert.Empty(_view.Apply([real[2]]));
        Assert.Equal(new Account(3, 60, 1000, "USD"), _view.Find(Stream));
    }

    [Fact]
    public async Task An_event_that_contradicts_the_state_from_the_store_causes_another_read()
    {
        await PutAsync(Stream, new Account(2, 30, 1000, "USD"));

        Assert.Empty(_view.Apply([History.Of(Stream, 10, 20)[1]]));
        Assert.Equal([Stream], _view.Apply([History.Of(Stream, 10, 15)[1]]));

        Assert.Equal(30, _view.Find(Stream)!.Balance);
    }

    [Fact]
    public async Task An_older_state_from_the_store_is_ignored()
    {
        _view.Apply([.. History.Of(Stream, 10, 20)]);

        await PutAsync(Stream, new Account(1, 10, 1000, "USD"));

        Assert.Equal(2, _view.Find(Stream)!.Version);
    }

    [Theory]
    [InlineData("balance")]
    [InlineData("on_hold")]
    [InlineData("account_status")]
    public void An_event_that_states_another_account_than_it_leads_to_is_not_applied(string forgedField)
    {
        var forged = History.Of(Stream, 10)[0];
        Action forge = forgedField switch
        {
            "balance" => () => forged.Balance.Units = 9,
            "on_hold" => () => forged.OnHold = Samples.Dollars(1),
            _ => () => forged.AccountStatus = V1.AccountStatus.Frozen,
        };
        forge();

        Assert.Equal([Stream], _view.Apply([forged]));

        Assert.Equal(Opened, _view.Find(Stream));
    }

    [Fact]
    public void An_event_without_a_fact_is_reported_as_a_gap() =>
        Assert.Equal(
            [Stream], _view.Apply([new Event { StreamId = Stream, Version = 1, Balance = Samples.Dollars(0) }]));

    [Fact]
    public void A_new_limit_and_its_currency_are_applied()
    {
        var changed = new Billing.Backends.Domain.CreditLimitChanged(Guid.NewGuid(), 55, "CHF", _time.GetUtcNow())
        {
            Balance = 0,
        };

        _view.Apply([RecordedEvent.ToWire(Stream, 1, changed)]);

        Assert.Equal(new Account(1, 0, 55, "CHF"), _view.Find(Stream));
    }

    [Fact]
    public async Task Accounts_share_the_string_of_their_currency()
    {
        _view.Apply([.. History.Of("visa/a", 1)]);
        await PutAsync("visa/b", new Account(1, 1, 1000, new string("USD".AsSpan())));

        Assert.Same(_view.Find("visa/a")!.Currency, _view.Find("visa/b")!.Currency);
    }

    [Fact]
    public async Task A_wait_for_a_version_completes_when_the_version_is_applied_and_not_before()
    {
        var events = History.Of(Stream, 1, 2, 3);
        var second = _view.WaitAsync(Stream, 2, TimeSpan.FromSeconds(1));
        var third = _view.WaitAsync(Stream, 3, TimeSpan.FromSeconds(1));

        _view.Apply([events[0]]);
        Assert.False(second.IsCompleted);
        _view.Apply([events[1]]);

        Assert.True(await second);
        Assert.False(third.IsCompleted);
        Assert.Equal(1, _view.Waiting);
    }

    [Fact]
    public async Task A_wait_also_completes_when_the_account_is_read_from_the_store()
    {
        var waiting = _view.WaitAsync(Stream, 7, TimeSpan.FromSeconds(1));

        await PutAsync(Stream, new Account(9, 1, 1000, "USD"));

        Assert.True(await waiting);
        Assert.Equal(0, _view.Waiting);
    }

    [Fact]
    public async Task A_wait_that_times_out_returns_false_and_is_removed()
    {
        var waiting = _view.WaitAsync(Stream, 1, TimeSpan.FromMilliseconds(500));
        _time.Advance(TimeSpan.FromMilliseconds(499));
        Assert.False(waiting.IsCompleted);

        _time.Advance(TimeSpan.FromMilliseconds(1));

        Assert.False(await waiting);
        Assert.Equal(0, _view.Waiting);
    }

    [Fact]
    public async Task A_wait_for_a_known_version_or_without_time_completes_at_once()
    {
        _view.Apply([.. History.Of(Stream, 1)]);

        Assert.True(await _view.WaitAsync(Stream, 1, TimeSpan.Zero));
        Assert.False(await _view.WaitAsync(Stream, 2, TimeSpan.FromSeconds(-1)));
        Assert.Empty(_time.Delays);
    }

    [Fact]
    public async Task Until_all_accounts_were_read_one_that_is_not_held_is_unknown()
    {
        var view = NewView(isComplete: false);

        Assert.Null(view.Find(Stream));
        Assert.Equal([Stream], view.Apply([History.Of(Stream, 10)[0]]));
        Assert.Null(view.Find(Stream));
        _store.Accounts[Stream] = new Account(1, 10, 1000, "USD");
        await view.ReadAsync(_store, [Stream, "visa/none"], CancellationToken.None);

        Assert.Equal(1, view.Find(Stream)!.Version);
        Assert.Null(view.Find("visa/none"));
        view.Complete();
        Assert.Equal(Opened, view.Find("visa/none"));
    }

    [Fact]
    public async Task What_was_read_before_an_event_passed_by_is_returned_and_not_held()
    {
        var view = NewView(isComplete: false);
        var events = History.Of(Stream, 10, 20);
        _store.Accounts[Stream] = new Account(1, 10, 1000, "USD");
        var answered = new TaskCompletionSource();
        _store.Answering = () => answered.Task;

        var reading = view.ReadAsync(_store, [Stream], CancellationToken.None);
        view.Apply([events[1]]);
        answered.SetResult();

        Assert.Equal(1, (await reading)[Stream].Version);
        Assert.Null(view.Find(Stream));
    }

    [Fact]
    public async Task What_was_read_before_a_reset_is_not_held()
    {
        _store.Accounts[Stream] = new Account(1, 10, 1000, "USD");
        var answered = new TaskCompletionSource();
        _store.Answering = () => answered.Task;

        var reading = _view.ReadAsync(_store, [Stream], CancellationToken.None);
        _view.Reset();
        answered.SetResult();
        await reading;

        Assert.Null(_view.Find(Stream));
        Assert.Equal(0, _view.Count);
    }

    [Fact]
    public void A_reset_forgets_everything()
    {
        _view.Apply([.. History.Of(Stream, 10, 20)]);

        _view.Reset();

        Assert.Null(_view.Find(Stream));
        Assert.Null(_view.Find("visa/none"));
        Assert.Equal((0, false), (_view.Count, _view.IsFull));
    }

    [Theory]
    [InlineData(3)]
    [InlineData(10)]
    [InlineData(1000)]
    public async Task As_many_accounts_are_held_as_there_is_room_for_and_then_mostly_those_in_use(int capacity)
    {
        var view = NewView(capacity);
        var ids = Enumerable.Range(1, capacity).Select(n => $"visa/{n}").ToList();
        ids.ForEach(id => view.Apply([History.Of(id, 10)[0]]));

        Assert.All(ids, id => Assert.Equal(1, view.Find(id)?.Version));
        Assert.Equal((capacity, true), (view.Count, view.IsFull));

        var missed = 0;
        for (var n = 0; n < 10 * capacity; n++)
        {
            _store.Accounts[ids[0]] = _store.Accounts[$"amex/{n}"] = new Account(1, 10, 1000, "USD");
            if (view.Find(ids[0]) is null)
            {
                missed++;
            }
            await view.ReadAsync(_store, [ids[0], $"amex/{n}"], CancellationToken.None);
            Assert.InRange(view.Count, 1, capacity);
        }
        Assert.InRange(missed, 0, capacity / 10 + 1);
        Assert.True(view.IsFull);
    }

    [Fact]
    public async Task Once_accounts_were_dropped_those_not_held_are_unknown_and_their_events_pass_unless_awaited()
    {
        var view = NewView(capacity: 3);
        foreach (var n in Enumerable.Range(1, 5))
        {
            view.Apply([History.Of($"visa/{n}", 10)[0]]);
        }
        var dropped = Enumerable.Range(1, 5).Select(n => $"visa/{n}").First(id => view.Find(id) is null);
        var second = History.Of(dropped, 10, 20)[1];

        Assert.Null(view.Find("visa/none"));
        Assert.Empty(view.Apply([History.Of("visa/new", 10)[0], second]));
        Assert.Null(view.Find("visa/new"));

        var waiting = view.WaitAsync(dropped, 2, TimeSpan.FromSeconds(1));
        Assert.Equal([dropped], view.Apply([second]));
        _store.Accounts[dropped] = new Account(2, 30, 1000, "USD");
        await view.ReadAsync(_store, [dropped], CancellationToken.None);
        Assert.True(await waiting);
    }

    [Fact]
    public void A_view_that_misses_an_account_knows_only_those_it_holds()
    {
        _view.Apply([.. History.Of(Stream, 10)]);

        _view.Miss();

        Assert.Equal(1, _view.Find(Stream)!.Version);
        Assert.Null(_view.Find("visa/none"));
        _view.Complete();
        Assert.Null(_view.Find("visa/none"));
    }

    private BalanceView NewView(int capacity = 1000, bool isComplete = true)
    {
        var view = new BalanceView(Opened, capacity, _time);
        if (isComplete)
        {
            view.Complete();
        }
        return view;
    }

    [Fact]
    public async Task After_a_restore_an_account_is_read_again_whatever_version_the_lost_events_had()
    {
        _view.Apply([.. History.Of(Stream, 10, 20, 30, 40)]);
        var anew = History.Of(Stream, 10, 5)[1];
        anew.Incarnation = 7;

        Assert.Equal([Stream], _view.Apply([anew]));
        Assert.Null(_view.Find(Stream));
        await PutAsync(Stream, new Account(2, 15, 1000, "USD") { Incarnation = 7 });

        Assert.Equal(15, _view.Find(Stream)!.Balance);
    }

    [Fact]
    public async Task After_a_restore_nothing_is_known_of_the_other_accounts_of_the_shard_either()
    {
        var sibling = Enumerable.Range(0, 10_000).Select(n => $"visa/sibling-{n}")
            .First(stream => Shard.Of(stream) == Shard.Of(Stream));
        _view.Apply([.. History.Of(Stream, 10), .. History.Of(sibling, 10, 20)]);

        await PutAsync(Stream, new Account(1, 10, 1000, "USD") { Incarnation = 7 });

        Assert.Null(_view.Find(sibling));
        Assert.False(await _view.WaitAsync(sibling, 2, TimeSpan.Zero));
        await PutAsync(sibling, Opened with { Incarnation = 7 });
        Assert.Equal(0, _view.Find(sibling)!.Version);
    }

    [Fact]
    public async Task A_lost_event_that_comes_late_is_left_out_or_has_the_account_read()
    {
        var lost = History.Of(Stream, 10, 20, 30);
        await PutAsync(Stream, new Account(2, 15, 1000, "USD") { Incarnation = 7 });

        Assert.Empty(_view.Apply([lost[1]]));
        Assert.Equal([Stream], _view.Apply([lost[2]]));
        await PutAsync(Stream, new Account(2, 15, 1000, "USD") { Incarnation = 7 });

        Assert.Equal(15, _view.Find(Stream)!.Balance);
    }

    [Fact]
    public async Task Events_of_the_present_incarnation_are_applied()
    {
        await PutAsync(Stream, new Account(1, 10, 1000, "USD") { Incarnation = 7 });
        var next = History.Of(Stream, 10, 20)[1];
        next.Incarnation = 7;

        Assert.Empty(_view.Apply([next]));

        Assert.Equal(new Account(2, 30, 1000, "USD") { Incarnation = 7 }, _view.Find(Stream));
    }

    private async Task PutAsync(string streamId, Account account)
    {
        _store.Accounts[streamId] = account;
        await _view.ReadAsync(_store, [streamId], CancellationToken.None);
    }
}
