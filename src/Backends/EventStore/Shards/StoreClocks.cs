using Billing.Hosting;

namespace Billing.Backends.EventStore.Shards;

/// <summary>Asks the databases of the event store for their time and tells it to this process's <see cref="SteadyTime"/>, the first time
/// before the process begins its work.</summary>
internal sealed class StoreClocks(EventStoreDatabases databases, TimeProvider time, Supervisor supervisor) : Worker(supervisor)
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    // PostgreSQL's times are in whole microseconds.
    private static readonly TimeSpan Precision = TimeSpan.FromMicroseconds(1);
    private static readonly TimeSpan AnswerTimeout = TimeSpan.FromSeconds(5);

    private readonly SteadyTime? _steady = time as SteadyTime;

    /// <inheritdoc/>
    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        if (_steady is not null)
        {
            await AskAsync(_steady, cancellationToken);
            _steady.Set();
        }
        await base.StartAsync(cancellationToken);
    }

    /// <inheritdoc/>
    public override async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Interval, time);
        while (await timer.WaitForNextTickAsync(stopping))
        {
            if (_steady is not null)
            {
                await AskAsync(_steady, stopping);
            }
        }
    }

    private Task AskAsync(SteadyTime steady, CancellationToken cancellationToken) =>
        Task.WhenAll(databases.All.Select(database => AskAsync(database, steady, cancellationToken)));

    private async Task AskAsync(EventStoreDatabase database, SteadyTime steady, CancellationToken cancellationToken)
    {
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        bound.CancelAfter(AnswerTimeout);
        try
        {
            await using var connection = await database.Servers.Primary.OpenConnectionAsync(bound.Token);
            await using var question = connection.CreateCommand();
            question.CommandText = "select clock_timestamp()";
            var asked = time.GetTimestamp();
            var shown = (DateTime)(await question.ExecuteScalarAsync(bound.Token))!;
            steady.Hear("database " + database.Name, shown, Precision, asked, time.GetTimestamp());
        }
        catch (Exception) when (!cancellationToken.IsCancellationRequested)
        {
            // Whoever needs the database says that it does not answer.
        }
    }
}
