using Billing.Hosting;
using Npgsql;

namespace Billing.Backends.EventStore.Shards;

/// <summary>Asks the databases of the event store for their time and tells it to this process's
/// <see cref="SteadyTime"/>, the first time before the process begins its work.</summary>
internal sealed class StoreClocks(EventStoreDatabases databases, TimeProvider time, Supervisor supervisor)
    : Worker(supervisor)
{
    // PostgreSQL's times are in whole microseconds.
    private static readonly TimeSpan Precision = TimeSpan.FromMicroseconds(1);

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
        using var timer = new PeriodicTimer(ClockVote.AskingInterval, time);
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
        bound.CancelAfter(ClockVote.AnswerMax);
        try
        {
            var (shown, asked, answered) = await database.Servers.UseAsync(AskAsync, bound.Token);
            steady.Hear("database " + database.Name, shown, Precision, asked, answered);
        }
        catch (Exception) when (!cancellationToken.IsCancellationRequested)
        {
            // Whoever needs the database says that it does not answer.
        }
    }
    private async Task<(DateTime Shown, long Asked, long Answered)> AskAsync(
        NpgsqlDataSource primary, CancellationToken cancellationToken)
    {
        await using var connection = await primary.OpenConnectionAsync(cancellationToken);
        await using var question = connection.CreateCommand();
        question.CommandText = "select clock_timestamp()";
        var asked = time.GetTimestamp();
        var shown = (DateTime)(await question.ExecuteScalarAsync(cancellationToken))!;
        return (shown, asked, time.GetTimestamp());
    }
}
