using Billing.Backends.Balances;
using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using FsCheck;
using FsCheck.Fluent;

namespace Billing.UnitTests.Backends.Balances;

/// <summary>In whatever order events are delivered, the view ends in the state that folding each
/// account's history gives.</summary>
public sealed class BalanceViewPropertyTests
{
    private static readonly Account Opened = Limits.Opened(1000);
    private static readonly DateTimeOffset DecidedAt = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    private static readonly Gen<AccountEvent> Fact =
        from kind in Gen.Choose(0, 2)
        from id in Generate.TransactionId
        from amount in Generate.Amount
        select kind switch
        {
            0 => (AccountEvent)new Billing.Backends.Domain.PaymentAccepted(
                id, amount.ToDecimal(), amount.CurrencyCode, DecidedAt)
            {
                Balance = 0,
            },
            1 => new Billing.Backends.Domain.PaymentDeclined(
                id, amount.ToDecimal(), amount.CurrencyCode, DeclineReason.CreditLimitExceeded, DecidedAt)
            {
                Balance = 0,
            },
            _ => new Billing.Backends.Domain.CreditLimitChanged(
                id, amount.ToDecimal(), amount.CurrencyCode, DecidedAt)
            {
                Balance = 0,
            },
        };

    /// <summary>Histories of three accounts, and an order, with repetitions, in which their events are
    /// delivered.</summary>
    private static readonly Gen<Delivered> Deliveries =
        from histories in Fact.NonEmptyListOf().ArrayOf(3)
        let events = histories.SelectMany((facts, n) => History.Of("visa/acct-" + n, facts)).ToList()
        from repeated in Gen.Elements<Event>(events).ListOf()
        from order in Gen.Shuffle(events.Concat(repeated))
        select new Delivered(histories, [.. order]);

    [Fact]
    public void Events_in_any_order_lead_to_the_folded_state_if_gaps_are_read_from_the_store() =>
        Deliveries.Holds(delivered =>
        {
            var view = NewView();
            foreach (var chunk in delivered.Order.Chunk(4))
            {
                foreach (var gap in view.Apply(chunk))
                {
                    // A store in memory answers at once.
                    Assert.True(view.ReadAsync(delivered.Store, [gap], CancellationToken.None).IsCompletedSuccessfully);
                }
            }
            Assert.All(delivered.Streams, stream => Assert.Equal(delivered.Fold(stream), view.Find(stream)));
        });

    [Fact]
    public void Events_in_order_within_each_account_lead_to_the_folded_state_without_a_gap() =>
        Deliveries.Holds(delivered =>
        {
            var view = NewView();
            var inOrder = delivered.Order.OrderBy(e => e.Version).ToList();

            Assert.Empty(view.Apply(inOrder));
            Assert.Empty(view.Apply(delivered.Order));

            Assert.All(delivered.Streams, stream => Assert.Equal(delivered.Fold(stream), view.Find(stream)));
        });

    [Fact]
    public void An_event_that_skips_a_version_is_reported_and_not_applied() => Deliveries.Holds(delivered =>
    {
        var view = NewView();
        foreach (var recorded in delivered.Order)
        {
            var before = view.Find(recorded.StreamId)!;
            var gaps = view.Apply([recorded]);
            Assert.Equal(recorded.Version > before.Version + 1 ? [recorded.StreamId] : [], gaps);
            Assert.Equal(
                recorded.Version == before.Version + 1 ? recorded.Version : before.Version,
                view.Find(recorded.StreamId)!.Version);
        }
    });

    [Fact]
    public void Every_wait_for_a_version_completes_when_the_version_is_applied() => Deliveries.Holds(delivered =>
    {
        var view = NewView();
        var waiting = delivered.Order
            .Select(e => view.WaitAsync(e.StreamId, e.Version, TimeSpan.FromSeconds(1))).ToList();

        view.Apply([.. delivered.Order.OrderBy(e => e.Version)]);

        Assert.All(waiting, task => Assert.True(task.IsCompletedSuccessfully && task.Result));
        Assert.Equal(0, view.Waiting);
    });

    [Fact]
    public void A_fact_survives_the_conversion_to_the_wire_format_and_back() => Fact.Holds(fact =>
        Assert.Equal(fact, RecordedEvent.ToWire("visa/a", 1, fact).ToFact()));

    [Fact]
    public void Events_in_any_order_lead_to_the_folded_state_of_what_is_held_in_a_view_with_room_for_two_thirds() =>
        Deliveries.Holds(delivered =>
        {
            var view = new BalanceView(Opened, capacity: 3, new ManualTime());
            var others = Enumerable.Range(0, 9).Select(n => "amex/acct-" + n).ToList();
            foreach (var (recorded, n) in delivered.Order.Select((recorded, n) => (recorded, n)))
            {
                foreach (var missing in view.Apply([recorded, History.Of(others[n % 9], 1)[0]]))
                {
                    Assert.True(
                        view.ReadAsync(delivered.Store, [missing], CancellationToken.None).IsCompletedSuccessfully);
                }
                Assert.True(view.ReadAsync(
                    delivered.Store, [delivered.Streams.First()], CancellationToken.None).IsCompletedSuccessfully);
            }
            Assert.All(
                delivered.Streams,
                stream => Assert.Equal(view.Find(stream) ?? delivered.Fold(stream), delivered.Fold(stream)));
        });

    private static BalanceView NewView()
    {
        var view = new BalanceView(Opened, capacity: 1000, new ManualTime());
        view.Complete();
        return view;
    }

    private sealed record Delivered(IList<AccountEvent>[] Histories, IReadOnlyList<Event> Order)
    {
        public IEnumerable<string> Streams => Histories.Select((_, n) => "visa/acct-" + n);

        public Account Fold(string stream) =>
            Histories[stream[^1] - '0'].Aggregate(Opened, (account, fact) => account.Apply(fact));

        public FakeAccountStore Store
        {
            get
            {
                var store = new FakeAccountStore();
                foreach (var stream in Streams)
                {
                    store.Accounts[stream] = Fold(stream);
                }
                return store;
            }
        }

        public override string ToString() => string.Join(' ', Order.Select(e => $"{e.StreamId}@{e.Version}"));
    }
}
