using Billing.Backends;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Backends.Payments;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.UnitTests.Backends.Payments;

/// <summary>The order of the commands of an account that go back to a lane, with those that the card network has meanwhile.</summary>
public sealed class CommandRouterTests : ICommandFlow, IAsyncDisposable
{
    private readonly ManualTime _time = new();
    private readonly FakeAccountStore _store = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly TaskCompletionSource _searching = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _found = new();
    private readonly TaskCompletionSource _answered = new();
    private readonly CommandRouter _router;
    private readonly Task _running;
    private readonly PendingCommand _older = Command(1);
    private readonly PendingCommand _newer = Command(2);
    private readonly SemaphoreSlim _asked = new(0);
    private Action _returned = () => { };

    public CommandRouterTests()
    {
        var options = Options.Create(new BackendOptions { DefaultCreditLimit = 100 });
        var retry = new EventStoreRetry(_time);
        var recorder = new PaymentRecorder(_store, retry, options, _time, NullLogger<PaymentRecorder>.Instance);
        var lane = new PaymentLane(_store, recorder, retry, options, _time, NullLogger<PaymentLane>.Instance);
        _router = new CommandRouter([lane], new ShardMap([_store], _time), TimeSpan.FromHours(1), _time);
        _running = Task.WhenAll(lane.RunAsync(this, _stop.Token), _router.RunAsync(_stop.Token));
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => _running);
        _stop.Dispose();
        _asked.Dispose();
    }

    [Fact]
    public async Task A_command_that_is_authorised_while_one_comes_back_from_a_moved_shard_does_not_overtake_it()
    {
        await EnterBothAsync();
        LoseShardsUntilAsked();

        await AuthoriseNewerWhileOlderComesBackAsync();
    }

    [Fact]
    public async Task A_command_does_not_overtake_one_whose_shard_had_left_the_database_when_it_was_recorded_and_has_come_back()
    {
        await EnterBothAsync();
        _found.SetResult();
        var (loading, loaded) = (new TaskCompletionSource(), new TaskCompletionSource());
        _store.Answering = () =>
        {
            loading.TrySetResult();
            return loaded.Task;
        };
        _router.EnterAuthorised(_older);
        await loading.Task;

        _router.EnterAuthorised(_newer);
        LoseShardsUntilAsked();
        _store.Loading = _ =>
        {
            _store.ShardsAsked();
            return null;
        };
        loaded.SetResult();
        await _time.RunToEndAsync(_answered.Task);

        Assert.Equal([_older.Id, _newer.Id], _store.Appended.Select(e => e.Id));
    }

    [Fact]
    public async Task A_command_that_is_authorised_after_its_shard_has_left_does_not_overtake_one_that_the_lane_returns_only_then()
    {
        await EnterBothAsync();
        _router.Enter([Command(3)]);
        await _searching.Task;
        _router.EnterAuthorised(_older);
        _returned = () =>
        {
            _returned = () => { };
            _router.EnterAuthorised(_newer);
        };
        LoseShardsUntilAsked();
        _found.SetResult();
        await _time.RunToEndAsync(_answered.Task);

        Assert.Equal([_older.Id, _newer.Id], _store.Appended.Select(e => e.Id));
    }

    [Fact]
    public async Task A_command_that_is_authorised_while_one_that_was_set_aside_is_tried_again_does_not_overtake_it()
    {
        await EnterBothAsync();
        var (failures, searching) = (0, _store.Searching);
        _store.Fails = _ => failures++ < EventStoreRetry.AttemptsTogether ? new PostgresException("damaged", "ERROR", "ERROR", "XX001") : null;
        // Between the attempts it is looked for as well.
        _store.Searching = ids => failures < EventStoreRetry.AttemptsTogether ? Task.CompletedTask : searching(ids);

        await AuthoriseNewerWhileOlderComesBackAsync();
    }

    bool ICommandFlow.Authorise(PendingCommand command, CancellationToken cancellationToken)
    {
        _asked.Release();
        return false;
    }

    List<PendingCommand> ICommandFlow.Answer(List<PendingCommand> done)
    {
        if (done.Contains(_newer))
        {
            _answered.SetResult();
        }
        return [];
    }

    bool ICommandFlow.HasLeft(PaymentLane lane, PendingCommand command) => _router.LaneOf(command) != lane;

    void ICommandFlow.Return(PaymentLane lane, List<PendingCommand> misplaced)
    {
        _router.Return(lane, misplaced);
        _returned();
    }

    private static PendingCommand Command(long arrival)
    {
        var command = Samples.PaymentCommand("acct-1");
        command.TransactionId = command.Payment.TransactionId = Guid.NewGuid().ToString();
        return new PendingCommand(new RecordingDelivery(command), "visa/acct-1", arrival, 0);
    }

    private void LoseShardsUntilAsked()
    {
        var held = _store.Shards.ToList();
        _store.Shards.Clear();
        _store.ShardsAsked = () => held.ForEach(shard => _store.Shards.TryAdd(shard.Key, shard.Value));
    }

    private async Task EnterBothAsync()
    {
        _router.Enter([_older, _newer]);
        await _asked.WaitAsync(TestContext.Current.CancellationToken);
        await _asked.WaitAsync(TestContext.Current.CancellationToken);
        _store.Searching = _ =>
        {
            _searching.TrySetResult();
            return _found.Task;
        };
    }

    private async Task AuthoriseNewerWhileOlderComesBackAsync()
    {
        _router.EnterAuthorised(_older);
        await _time.RunToEndAsync(_searching.Task);

        _router.EnterAuthorised(_newer);
        _found.SetResult();
        await _time.RunToEndAsync(_answered.Task);

        Assert.Equal([_older.Id, _newer.Id], _store.Appended.Select(e => e.Id));
    }
}
