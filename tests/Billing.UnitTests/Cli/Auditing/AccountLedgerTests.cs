using Billing.Backends.Domain;
using Billing.Cli.Auditing;

namespace Billing.UnitTests.Cli.Auditing;

public sealed class AccountLedgerTests
{
    private const string Stream = "visa/a";

    private readonly Findings _unbalanced = new();
    private readonly TransactionLedger _transactions;
    private readonly AccountLedger _accounts;

    public AccountLedgerTests()
    {
        _transactions = new TransactionLedger(0, _unbalanced);
        _accounts = new AccountLedger(Account.Opened(10_000), _transactions, _unbalanced);
    }

    [Theory]
    [InlineData(1, 2, 3, 4, 5)]
    [InlineData(5, 4, 3, 2, 1)]
    [InlineData(3, 1, 5, 2, 4)]
    public void Events_may_come_in_any_order(params int[] order)
    {
        _accounts.AddStream(Stream, 5);
        _accounts.AddSnapshot(Stream, new Account(3, 1 + 2 + 3, 10_000, "USD"));

        Add(order);

        Assert.Empty(_accounts.Holes);
        Assert.Empty(_unbalanced);
        Assert.Equal([(Stream, 5L, 15m)], _accounts.Accounts);
    }

    [Fact]
    public void A_hole_is_named_and_what_lies_beyond_it_is_folded()
    {
        _accounts.AddStream(Stream, 6);

        Add(1, 2, 6);

        Assert.Equal("visa/a: versions 3 to 5 are missing", Assert.Single(_accounts.Holes));
        Assert.Equal([(Stream, 6L, 9m)], _accounts.Accounts);
    }

    [Fact]
    public void A_version_that_comes_again_is_named()
    {
        _accounts.AddStream(Stream, 2);

        Add(1, 2, 2);

        Assert.Equal("visa/a: version 2 is there again", Assert.Single(_accounts.Holes));
    }

    [Fact]
    public void A_stream_that_nothing_is_said_of_is_named()
    {
        Add(1);

        Assert.Equal("visa/a: mt_streams says version none, the last event is version 1", Assert.Single(_accounts.Holes));
    }

    [Fact]
    public void A_limit_is_compared_with_the_snapshots_only_once_one_was_set()
    {
        _accounts.AddStream(Stream, 2);
        _accounts.AddSnapshot(Stream, new Account(1, 1, 77, "USD"));
        _accounts.AddSnapshot("visa/b", new Account(1, 0, 77, "USD"));

        _accounts.AddStream("visa/b", 1);
        _accounts.AddEvent("visa/b", 1, new CreditLimitChanged(Guid.Empty, 500, "USD", default));
        Add(1, 2);

        Assert.StartsWith("visa/b: the snapshot of version 1 says balance 0 USD, limit 77;", Assert.Single(_unbalanced), StringComparison.Ordinal);
    }

    /// <summary>Adds one event for each version, of an amount that is the version.</summary>
    private void Add(params int[] versions)
    {
        foreach (var version in versions)
        {
            _accounts.AddEvent(Stream, version, new PaymentAccepted(Guid.NewGuid(), version, "USD", default));
        }
        _accounts.Conclude();
    }
}
