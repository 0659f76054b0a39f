using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Hosting;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.IntegrationTests.Services;

/// <summary>A store of two databases, which tests copy: in the first one an account with a closed command,
/// and its neighbours.</summary>
public sealed class MovableStore(EventStoreFixture store) : IAsyncLifetime
{
    /// <summary>Number of the neighbours: some are in the account's shard.</summary>
    public const int Neighbours = 200;

    private string[] _connections = [];

    /// <summary>The account's stream.</summary>
    public static string Stream { get; } = "visa/" + StackFixture.NewAccount();

    /// <summary>The id of its closed command.</summary>
    public static Guid Closed { get; } = Guid.NewGuid();

    /// <summary>Its events; something is on hold.</summary>
    public static IReadOnlyList<AccountEvent> Facts { get; } =
    [
        .. EventStoreFixture.Facts(250),
        new PaymentAuthorised(
            Guid.NewGuid(), 5, "USD", new DateTimeOffset(2099, 1, 1, 0, 0, 0, TimeSpan.Zero), DateTimeOffset.UnixEpoch)
        {
            Balance = 0,
        },
    ];

    /// <summary>The account after its events.</summary>
    public Account Account { get; private set; } = EventStoreFixture.Opened;

    public async ValueTask InitializeAsync()
    {
        _connections = [await store.NewDatabaseAsync(), await store.NewDatabaseAsync()];
        await using var services = EventStoreFixture.ServicesOf(_connections);
        await services.EnsureEventStoreAsync(CancellationToken.None);
        var first = services.GetRequiredService<EventStoreDatabases>().All[0].Store;
        Account = await AppendAsync(first, Stream, Facts);
        await first.CloseAsync([(new CommandId(Closed, Stream), null)], [], CancellationToken.None);
        foreach (var neighbour in Enumerable.Range(0, Neighbours))
        {
            await AppendAsync(first, $"amex/{Stream}{neighbour}", EventStoreFixture.Facts(1, seed: neighbour));
        }
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    /// <summary>Copies the store.</summary>
    /// <returns>The connection string of each database.</returns>
    public Task<string[]> CopyAsync() => store.CopyAsync(_connections);

    private static Task<Account> AppendAsync(IAccountStore accounts, string stream, IEnumerable<AccountEvent> facts) =>
        EventStoreFixture.AppendAsync(accounts, stream, EventStoreFixture.Opened, facts);
}
