using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;

namespace Billing.UnitTests.Backends.Balances;

public sealed class BalanceViewTests
{
    private const string Stream = "visa/acct-42";

    private static readonly Account Opened = Account.Opened(1000);

    private readonly ManualTime _time = new();
    private readonly BalanceView _view;

    public BalanceViewTests() => _view = new BalanceView(Opened, _time);

    [Fact]
    public void An_account_without_events_is_as_opened()
    {
        Assert.Equal(Opened, _view.Get(Stream));
        Assert.Equal(0, _view.Count);
    }

    [Fact]
    public void Events_in_order_are_applied()
    {
        Assert.Empty(_view.Apply([.. History.Of(Stream, 10, 20)]));

        Assert.Equal(new Account(2, 30, 1000, "USD"), _view.Get(Stream));
        Assert.Equal(1, _view.Count);
    }

    [Fact]
    public void An_event_that_was_already_applied_changes_nothing()
    {
        var events = History.Of(Stream, 10, 20, 30);
        _view.Apply(events);

        Assert.Empty(_view.Apply([events[0], events[2], events[1]]));

        Assert.Equal(60, _view.Get(Stream).Balance);
    }

    [Fact]
    public void Events_after_a_skipped_version_are_reported_once_and_not_applied()
    {
        var events = History.Of(Stream, 10, 20, 30, 40);
        _view.Apply([events[0]]);

        Assert.Equal([Stream], _view.Apply([events[2], events[3]]));

        Assert.Equal(1, _view.Get(Stream).Version);
    }

    [Fact]
    public void An_account_read_from_the_store_closes_the_gap()
    {
        var events = History.Of(Stream, 10, 20, 30, 40);
        _view.Apply([events[0], events[2]]);

        _view.Put(Stream, new Account(3, 60, 1000, "USD"));

        Assert.Empty(_view.Apply([events[2], events[3]]));
        Assert.Equal(new Account(4, 100, 1000, "USD"), _view.Get(Stream));
    }

    [Fact]
    public void An_event_that_contradicts_the_previous_one_causes_a_read_from_the_store()
    {
        var real = History.Of(Stream, 10, 20, 30);
        _view.Apply([real[0], History.Of(Stream, 10, 15)[1]]);

        Assert.Equal([Stream], _view.Apply([real[1]]));
        // No event is applied to a state in doubt.
        Assert.Equal([Stream], _view.Apply([real[2]]));
        _view.Put(Stream, new Account(2, 30, 1000, "USD"));

        Assert.Empty(_view.Apply([real[2]]));
        Assert.Equal(new Account(3, 60, 1000, "USD"), _view.Get(Stream));
    }

    [Fact]
    public void An_event_that_contradicts_the_state_from_the_store_causes_another_read()
    {
        _view.Put(Stream, new Account(2, 30, 1000, "USD"));

        Assert.Empty(_view.Apply([History.Of(Stream, 10, 20)[1]]));
        Assert.Equal([Stream], _view.Apply([History.Of(Stream, 10, 15)[1]]));

        Assert.Equal(30, _view.Get(Stream).Balance);
    }

    [Fact]
    public void An_older_state_from_the_store_is_ignored()
    {
        _view.Apply([.. History.Of(Stream, 10, 20)]);

        _view.Put(Stream, new Account(1, 10, 1000, "USD"));

        Assert.Equal(2, _view.Get(Stream).Version);
    }

    [Fact]
    public void An_event_whose_balance_does_not_match_its_amount_is_not_applied()
    {
        var forged = History.Of(Stream, 10)[0];
        forged.Balance.Units = 9;

        Assert.Equal([Stream], _view.Apply([forged]));

        Assert.Equal(Opened, _view.Get(Stream));
    }

    [Fact]
    public void An_event_without_a_fact_is_reported_as_a_gap() =>
        Assert.Equal([Stream], _view.Apply([new Event { StreamId = Stream, Version = 1, Balance = Samples.Dollars(0) }]));

    [Fact]
    public void A_new_limit_and_its_currency_are_applied()
    {
        var changed = new Billing.Backends.Domain.CreditLimitChanged(Guid.NewGuid(), 55, "CHF", _time.GetUtcNow());

        _view.Apply([RecordedEvent.ToWire(Stream, changed, Opened.Apply(changed))]);

        Assert.Equal(new Account(1, 0, 55, "CHF"), _view.Get(Stream));
    }

    [Fact]
    public void Accounts_share_the_string_of_their_currency()
    {
        _view.Apply([.. History.Of("visa/a", 1)]);
        _view.Put("visa/b", new Account(1, 1, 1000, new string("USD".AsSpan())));

        Assert.Same(_view.Get("visa/a").Currency, _view.Get("visa/b").Currency);
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

        _view.Put(Stream, new Account(9, 1, 1000, "USD"));

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
}
