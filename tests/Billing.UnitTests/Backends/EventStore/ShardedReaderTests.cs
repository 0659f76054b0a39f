using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.UnitTests.Testing;
using Npgsql;

namespace Billing.UnitTests.Backends.EventStore;

public sealed class ShardedReaderTests
{
    private const string Stream = "visa/acct-1";

    private static readonly Account Opened = Limits.Opened(100);
    private static readonly Account Charged = Opened with { Version = 7, Balance = 12 };

    private readonly FakeAccountStore _store = new();
    private readonly ShardedReader _reader;

    public ShardedReaderTests() => _reader = new ShardedReader(new ShardMap([_store], new ManualTime()));

    [Theory]
    [InlineData(null)]
    [InlineData(3L)]
    public async Task What_was_read_while_the_shard_was_elsewhere_is_not_the_account_even_if_the_shard_is_back(
        long? epoch)
    {
        await LoadAsync();
        _store.Answering = () =>
        {
            _store.Accounts[Stream] = Charged;
            _store.Answering = () => Task.CompletedTask;
            _store.Shards.Remove(Shard.Of(Stream));
            if (epoch is { } back)
            {
                _store.Shards.Add(Shard.Of(Stream), back);
            }
            return Task.CompletedTask;
        };

        var failure = await Record.ExceptionAsync(LoadAsync);

        Assert.NotNull(failure);
        Assert.True(EventStoreFailure.IsUnavailable(failure));
        if (epoch is not null)
        {
            Assert.Equal(Charged, await LoadAsync());
        }
    }

    [Fact]
    public async Task The_failure_of_a_read_is_passed_on_and_no_other_database_is_read()
    {
        var other = new FakeAccountStore();
        other.Shards.Clear();
        other.Loading = _ => new InvalidOperationException("It does not hold the shard.");
        var reader = new ShardedReader(new ShardMap([other, _store], new ManualTime()));
        var failure = new NpgsqlException("The server is gone.");
        _store.Loading = _ => failure;

        Assert.Same(failure, await Record.ExceptionAsync(
            () => reader.LoadAsync([Stream], Opened, TestContext.Current.CancellationToken)));
    }

    [Fact]
    public async Task An_account_is_read_without_the_hash_that_only_appends_need()
    {
        _store.Accounts[Stream] = Charged with { Head = "hash" };

        Assert.Equal(Charged, await LoadAsync());
    }

    private async Task<Account> LoadAsync() =>
        (await _reader.LoadAsync([Stream], Opened, TestContext.Current.CancellationToken))[Stream];
}
