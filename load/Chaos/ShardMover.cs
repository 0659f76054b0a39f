using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Hosting;
using Billing.LocalStack;
using Billing.LocalStack.Processes;
using Billing.Operator.Store;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Billing.Chaos;

/// <summary>An operator who moves shards between the databases of a stack all the time.
/// Some moves are given up halfway; what a move has closed, the next one opens.</summary>
/// <param name="seed">The seed of all random choices.</param>
/// <param name="time">The clock.</param>
public sealed class ShardMover(BillingStack stack, int seed, TimeProvider time)
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(500);

    /// <summary>Number of moves that were completed.</summary>
    public int Moves { get; private set; }

    /// <summary>Moves shards until it is cancelled, and completes the move that is under way then.
    /// With one database it does nothing.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        if (stack.Databases.Count == 1)
        {
            return;
        }
        var random = new Random(seed);
        await using var services = StoreServices.Of(stack.Databases);
        var names = stack.Databases.Keys.Order(StringComparer.Ordinal).ToArray();
        while (!cancellationToken.IsCancellationRequested)
        {
            var (shard, name) = (random.Next(Shard.Count), names[random.Next(names.Length)]);
            if (random.Next(4) == 0)
            {
                using var given = new CancellationTokenSource(TimeSpan.FromMilliseconds(random.Next(200)), time);
                await TryAsync(services, shard, name, given.Token);
            }
            await Poll.LastAsync(
                () => TryAsync(services, shard, name, CancellationToken.None), isMoved => isMoved,
                TimeSpan.MaxValue, Pause, CancellationToken.None);
            Moves++;
            await Task.Delay(Pause, time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private static async Task<bool> TryAsync(
        ServiceProvider services, int shard, string name, CancellationToken cancellationToken)
    {
        try
        {
            await services.MoveShardAsync(shard, name, _ => { }, cancellationToken);
            return true;
        }
        catch (Exception e)
            when (e is NpgsqlException or OperationCanceledException or StoreCopyException or Hosting.StartupException)
        {
            return false;
        }
    }
}
