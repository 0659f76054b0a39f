using System.Globalization;
using Billing.Backends.Domain;
using Billing.Backends.Payments;
using Billing.Messaging;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Backends.Payments;

public sealed class AccountCacheTests
{
    private static readonly PartitionAssignment Here = new(new SourcePartition("billing.payments.visa", 1));

    [Fact]
    public void It_never_holds_more_accounts_than_its_capacity()
    {
        var uses =
            from capacity in Gen.Choose(2, 40)
            from ids in Gen.Choose(0, 99).ListOf()
            select (Capacity: capacity, Ids: ids);
        uses.Holds(use =>
        {
            var cache = new AccountCache(use.Capacity);
            foreach (var id in use.Ids)
            {
                Use(cache, id);
                Assert.InRange(cache.Count, 1, use.Capacity);
            }
        });
    }

    [Fact]
    public void It_keeps_the_half_of_its_capacity_that_was_used_last()
    {
        var uses =
            from capacity in Gen.Choose(2, 40)
            from ids in Gen.Choose(0, 99).NonEmptyListOf()
            select (Capacity: capacity, Ids: ids);
        uses.Holds(use =>
        {
            var cache = new AccountCache(use.Capacity);
            use.Ids.ForEach(id => Use(cache, id));
            var last = Enumerable.Reverse(use.Ids).Distinct().Take(use.Capacity / 2);
            Assert.All(last, id => Assert.True(cache.TryGet(Name(id), out _)));
        });
    }

    [Fact]
    public void The_state_that_was_set_last_is_returned()
    {
        var cache = new AccountCache(10);
        cache.Set("visa/a", State(1), Here);
        cache.Set("visa/a", State(2), Here);
        Assert.True(cache.TryGet("visa/a", out var account));
        Assert.Equal(State(2), account);
        Assert.Equal(1, cache.Count);
    }

    [Fact]
    public void An_account_that_is_set_repeatedly_keeps_its_latest_state()
    {
        var cache = new AccountCache(4);
        foreach (var version in Enumerable.Range(1, 10))
        {
            cache.Set("visa/a", State(version), Here);
            cache.Set($"visa/other-{version % 3}", State(0), Here);
            Assert.True(cache.TryGet("visa/a", out var account));
            Assert.Equal(version, account.Version);
        }
    }

    [Fact]
    public void An_account_that_is_set_again_is_counted_once()
    {
        var cache = new AccountCache(4);
        Enumerable.Range(0, 3).ToList().ForEach(id => Use(cache, id));
        cache.Set(Name(0), State(7), Here);
        Assert.Equal(3, cache.Count);
    }

    [Fact]
    public void A_forgotten_account_is_removed_and_the_others_stay()
    {
        var cache = new AccountCache(4);
        Enumerable.Range(0, 4).ToList().ForEach(id => Use(cache, id));
        cache.Remove([Name(0), Name(3), "visa/unknown"]);
        Assert.False(cache.TryGet(Name(0), out _));
        Assert.False(cache.TryGet(Name(3), out _));
        Assert.True(cache.TryGet(Name(1), out _));
        Assert.Equal(2, cache.Count);
    }

    [Fact]
    public void The_accounts_of_a_revoked_partition_are_not_returned_any_more_and_the_others_stay()
    {
        var (here, there, again) = (NewAssignment(1), NewAssignment(2), NewAssignment(1));
        var cache = new AccountCache(8);
        cache.Set(Name(1), State(1), here);
        cache.Set(Name(2), State(2), here);
        cache.Set(Name(3), State(3), there);
        here.End();
        Assert.False(cache.TryGet(Name(1), out _));
        Assert.False(cache.TryGet(Name(2), out _));
        Assert.True(cache.TryGet(Name(3), out _));
        cache.Set(Name(1), State(4), again);
        Assert.True(cache.TryGet(Name(1), out var account));
        Assert.Equal(State(4), account);
        again.Fence(1);
        Assert.False(cache.TryGet(Name(1), out _));
    }

    private static void Use(AccountCache cache, int id)
    {
        if (!cache.TryGet(Name(id), out _))
        {
            cache.Set(Name(id), State(id), Here);
        }
    }

    private static PartitionAssignment NewAssignment(int partition) =>
        new(new SourcePartition("billing.payments.visa", partition));

    private static string Name(int id) => "visa/" + id.ToString(CultureInfo.InvariantCulture);

    private static Account State(long version) => new(version, 0, 100, "USD");
}
