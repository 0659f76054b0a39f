using Billing.Rpc.Proxies;

namespace Billing.UnitTests.Rpc;

public sealed class BackendSharesTests
{
    private static readonly string[] Addresses = ["10.0.0.1:6000", "10.0.0.2:6000", "10.0.0.3:6000"];

    [Theory]
    [InlineData("", 0xcbf29ce484222325)]
    [InlineData("a", 0xaf63dc4c8601ec8c)]
    [InlineData("foobar", 0x85944171f73967e8)]
    public void The_hash_is_FNV_1a(string text, ulong expected) => Assert.Equal(expected, BackendAssignment.Hash(text));

    [Fact]
    public void The_shares_are_the_same_in_every_process_and_version()
    {
        var shares = new BackendAssignment(Addresses);

        Assert.Equal(
            [0, 0, 2, 2, 0, 2, 0, 1, 2, 2, 2, 1, 2, 0, 2, 0],
            Enumerable.Range(0, 16).Select(n => shares.IndexOf($"visa/acct-{n}")));
    }

    [Fact]
    public void The_order_and_the_case_of_the_addresses_do_not_matter()
    {
        string[] names = ["one:1", "two:1", "three:1", "four:1"];
        string[] other = ["FOUR:1", "two:1", "One:1", "three:1"];
        var (first, second) = (new BackendAssignment(names), new BackendAssignment(other));

        Assert.All(Accounts(), account => Assert.Equal(
            names[first.IndexOf(account)], other[second.IndexOf(account)], ignoreCase: true));
    }

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(10)]
    public void Consecutively_numbered_accounts_are_distributed_evenly(int backends)
    {
        var shares = new BackendAssignment(Enumerable.Range(0, backends).Select(n => $"127.0.0.1:{6000 + n}"));

        var counts = Accounts().CountBy(shares.IndexOf).ToDictionary();

        Assert.Equal(backends, counts.Count);
        Assert.All(counts.Values, count => Assert.InRange(count * backends / 20_000.0, 0.93, 1.07));
    }

    [Fact]
    public void Removing_a_backend_moves_only_its_own_accounts()
    {
        var (all, fewer) = (new BackendAssignment(Addresses), new BackendAssignment(Addresses[..2]));

        Assert.All(
            Accounts().Where(a => all.IndexOf(a) < 2),
            account => Assert.Equal(all.IndexOf(account), fewer.IndexOf(account)));
    }

    [Fact]
    public void At_least_one_address_is_required() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new BackendAssignment([]));

    private static IEnumerable<string> Accounts() => Enumerable.Range(0, 20_000).Select(n => $"visa/acct-{n}");
}
