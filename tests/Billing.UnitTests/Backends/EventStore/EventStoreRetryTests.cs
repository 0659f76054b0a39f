using Billing.Backends.EventStore;
using Npgsql;

namespace Billing.UnitTests.Backends.EventStore;

public sealed class EventStoreRetryTests
{
    private readonly ManualTime _time = new();
    private readonly List<int> _retries = [];

    [Theory]
    [InlineData(PostgresErrorCodes.AdminShutdown)]
    [InlineData(PostgresErrorCodes.CrashShutdown)]
    [InlineData(PostgresErrorCodes.CannotConnectNow)]
    [InlineData(PostgresErrorCodes.TooManyConnections)]
    [InlineData(PostgresErrorCodes.DiskFull)]
    [InlineData(PostgresErrorCodes.DeadlockDetected)]
    [InlineData(PostgresErrorCodes.SerializationFailure)]
    [InlineData(PostgresErrorCodes.ReadOnlySqlTransaction)]
    [InlineData(PostgresErrorCodes.InsufficientPrivilege)]
    [InlineData(PostgresErrorCodes.UndefinedTable)]
    [InlineData(PostgresErrorCodes.InvalidPassword)]
    [InlineData(PostgresErrorCodes.OutOfMemory)]
    [InlineData(PostgresErrorCodes.QueryCanceled)]
    public void A_failure_not_caused_by_the_data_means_that_the_store_is_unavailable(string sqlState) =>
        Assert.True(EventStoreFailure.IsUnavailable(new InvalidOperationException("wrapped", Postgres(sqlState))));

    [Theory]
    [InlineData(PostgresErrorCodes.UniqueViolation)]
    [InlineData(PostgresErrorCodes.NotNullViolation)]
    [InlineData(PostgresErrorCodes.NumericValueOutOfRange)]
    [InlineData(PostgresErrorCodes.UntranslatableCharacter)]
    public void A_failure_caused_by_the_data_does_not_mean_that_the_store_is_unavailable(string sqlState) =>
        Assert.False(EventStoreFailure.IsUnavailable(Postgres(sqlState)));

    /// <summary>Nothing in a command that has passed the field rules can cause one:
    /// somebody has changed the tables.</summary>
    [Theory]
    [InlineData(PostgresErrorCodes.UniqueViolation)]
    [InlineData(PostgresErrorCodes.NotNullViolation)]
    [InlineData(PostgresErrorCodes.CheckViolation)]
    [InlineData(PostgresErrorCodes.ForeignKeyViolation)]
    [InlineData(PostgresErrorCodes.ExclusionViolation)]
    [InlineData(PostgresErrorCodes.StringDataRightTruncation)]
    [InlineData(PostgresErrorCodes.NumericValueOutOfRange)]
    [InlineData(PostgresErrorCodes.InvalidTextRepresentation)]
    [InlineData(PostgresErrorCodes.UntranslatableCharacter)]
    [InlineData(PostgresErrorCodes.RaiseException)]
    public void What_refuses_a_command_that_fits_the_tables_as_they_were_is_tried_again(string sqlState)
    {
        var failure = new InvalidOperationException("wrapped", Postgres(sqlState));

        Assert.True(EventStoreFailure.IsRetryable(failure));
        Assert.True(EventStoreFailure.IsOfSomeRows(failure));
        Assert.StartsWith(sqlState + ": ", EventStoreFailure.RefusalOf(failure), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(StoredFunction.StreamMoved)]
    [InlineData(StoredFunction.EpochEnded)]
    [InlineData(StoredFunction.StreamArchived)]
    [InlineData(PostgresErrorCodes.DataCorrupted)]
    [InlineData(PostgresErrorCodes.ReadOnlySqlTransaction)]
    public void What_the_tables_refuse_as_they_should_does_not_mean_that_somebody_has_changed_them(string sqlState) =>
        Assert.Null(EventStoreFailure.RefusalOf(Postgres(sqlState)));

    [Fact]
    public void A_broken_connection_means_that_the_store_is_unavailable()
    {
        Assert.True(EventStoreFailure.IsUnavailable(new NpgsqlException("broken", new IOException())));
        Assert.False(EventStoreFailure.IsUnavailable(new IOException()));
    }

    [Fact]
    public async Task Briefly_gives_up_after_ten_retries_with_the_last_failure()
    {
        var calls = 0;
        var pipeline = new EventStoreRetry(_time).Limited((_, attempt) => _retries.Add(attempt));
        var work = pipeline.ExecuteAsync(_ => throw Away(++calls), CancellationToken.None);
        var e = await Assert.ThrowsAsync<NpgsqlException>(() => _time.RunToEndAsync(work));
        Assert.Equal("11", e.Message);
        Assert.Equal(Enumerable.Range(1, 10), _retries);
    }

    [Fact]
    public async Task Briefly_does_not_retry_a_permanent_failure()
    {
        var pipeline = new EventStoreRetry(_time).Limited((_, attempt) => _retries.Add(attempt));
        await Assert.ThrowsAsync<PostgresException>(
            async () => await pipeline.ExecuteAsync(
                _ => throw Postgres(PostgresErrorCodes.UniqueViolation), CancellationToken.None));
        Assert.Empty(_retries);
    }

    [Fact]
    public async Task Forever_retries_until_success_and_never_waits_longer_than_the_maximum()
    {
        var calls = 0;
        var pipeline = new EventStoreRetry(_time).Unlimited(
            EventStoreFailure.IsUnavailable, (_, attempt) => _retries.Add(attempt));
        await _time.RunToEndAsync(
            pipeline.ExecuteAsync(_ => ++calls < 60 ? throw Away(calls) : Task.CompletedTask, CancellationToken.None));
        Assert.Equal(60, calls);
        Assert.Equal(Enumerable.Range(1, 59), _retries);
        Assert.All(_time.Delays, delay => Assert.InRange(delay, TimeSpan.Zero, EventStoreRetry.DelayMax));
    }

    [Fact]
    public async Task Forever_ends_when_its_token_is_cancelled()
    {
        using var stop = new CancellationTokenSource();
        var pipeline = new EventStoreRetry(_time).Unlimited(_ => true, (_, attempt) =>
        {
            if (attempt == 5)
            {
                stop.Cancel();
            }
        });
        var work = pipeline.ExecuteAsync(_ => throw Away(0), stop.Token);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => _time.RunToEndAsync(work));
    }

    [Fact]
    public async Task Cancelled_work_is_not_retried()
    {
        var pipeline = new EventStoreRetry(_time).Unlimited(_ => true, (_, attempt) => _retries.Add(attempt));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            async () =>
                await pipeline.ExecuteAsync(_ => throw new OperationCanceledException(), CancellationToken.None));
        Assert.Empty(_retries);
    }

    private static NpgsqlException Away(int call) =>
        new(call.ToString(System.Globalization.CultureInfo.InvariantCulture), new IOException());

    private static PostgresException Postgres(string sqlState) => new("failed", "FATAL", "FATAL", sqlState);
}
