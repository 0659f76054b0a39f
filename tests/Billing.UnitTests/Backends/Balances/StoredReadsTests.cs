using Billing.Backends;
using Billing.Backends.Balances;
using Billing.Backends.EventStore;
using Billing.Backends.EventStore.Shards;
using Billing.Messaging;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Backends.Balances;

/// <summary>Requests that are answered from the event store.</summary>
public sealed class StoredReadsTests
{
    [Fact]
    public async Task A_reader_that_fails_ends_all_readers_so_that_the_process_fails()
    {
        var time = new ManualTime();
        var replier = new Replier(null!, Supervision.New(), NullLogger<Replier>.Instance);
        var reads = new StoredReads(
            Command.RequestOneofCase.Payment, (_, _, _) => throw new InvalidDataException("poison"), 10,
            new ShardMap([new FakeAccountStore()], time), replier, new EventStoreRetry(time), time,
            NullLogger<StoredReads>.Instance);
        var running = reads.RunAsync(CancellationToken.None);

        reads.Accept(new UnrejectableDelivery(Samples.PaymentCommand(correlationId: 7)));

        await Assert.ThrowsAsync<NotSupportedException>(() => running.WaitAsync(TimeSpan.FromMinutes(1)));
    }

    [Fact]
    public async Task Few_answers_are_read_for_a_proxy_that_cannot_be_sent_any_and_others_get_theirs()
    {
        const string Stuck = "billing.replies.stuck";
        const int OfProxy = 16;
        var time = new ManualTime();
        var map = new ShardMap([new FakeAccountStore()], time);
        await map.RefreshAsync();
        var publisher = new HoldingPublisher(Stuck);
        var replier = new Replier(publisher, Supervision.New(), NullLogger<Replier>.Instance);
        var reads = new StoredReads(
            Command.RequestOneofCase.Payment, (_, _, _) => Task.FromResult(new Reply()), 100, map, replier,
            new EventStoreRetry(time), time, NullLogger<StoredReads>.Instance);
        using var stop = new CancellationTokenSource();
        var running = reads.RunAsync(stop.Token);
        var other = new RecordingDelivery(Samples.PaymentCommand());
        for (var request = 0; request < 5 * OfProxy; request++)
        {
            reads.Accept(new RecordingDelivery(new Command(Samples.PaymentCommand()) { ProxyTopic = Stuck }));
        }
        reads.Accept(other);

        await other.Ended.WaitAsync(TimeSpan.FromMinutes(1));
        await publisher.HasAsync(OfProxy);
        publisher.Acknowledge(3);
        await publisher.HasAsync(OfProxy);

        Assert.Equal(OfProxy + 3, publisher.Asked);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
    }

    [Fact]
    public void All_proxies_together_have_no_more_answers_unsent_than_there_are_places()
    {
        var unsent = new UnsentAnswers(max: 20);
        var entered = Enumerable.Range(0, 60).Select(n => Of($"proxy-{n % 3}")).Where(unsent.TryEnter).ToList();

        Assert.Equal(20, entered.Count);
        Assert.All(entered, left => Assert.NotNull(unsent.Leave(left)));
    }

    [Fact]
    public void Requests_of_a_proxy_have_their_turn_in_their_order()
    {
        var unsent = new UnsentAnswers(max: 1);
        var (first, second, third) = (Of("one"), Of("one"), Of("two"));
        Assert.True(unsent.TryEnter(first));
        Assert.False(unsent.TryEnter(second));
        Assert.False(unsent.TryEnter(third));

        Assert.Same(second, unsent.Leave(first));
        Assert.Same(third, unsent.Leave(second));
        Assert.Null(unsent.Leave(third));
        Assert.True(unsent.TryEnter(first));
    }

    private static RecordingDelivery Of(string proxy) =>
        new(new Command(Samples.PaymentCommand()) { ProxyTopic = proxy });

    /// <summary>Acknowledges what is sent to a topic only when it is told to.</summary>
    private sealed class HoldingPublisher(string held) : IAnswerPublisher
    {
        private readonly Lock _gate = new();
        private readonly Queue<TaskCompletionSource> _held = [];

        public int Asked { get; private set; }

        public Task PublishAsync(
            IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken)
        {
            if (answers.Single().ProxyTopic != held)
            {
                return Task.CompletedTask;
            }
            lock (_gate)
            {
                var sent = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                _held.Enqueue(sent);
                Asked++;
                return sent.Task;
            }
        }

        public Task SendAsync(Command command) => throw new NotSupportedException();

        public void Acknowledge(int count)
        {
            for (var answer = 0; answer < count; answer++)
            {
                lock (_gate)
                {
                    _held.Dequeue().SetResult();
                }
            }
        }

        // It takes milliseconds.
        public async Task HasAsync(int count)
        {
            using var patience = new CancellationTokenSource(TimeSpan.FromMinutes(1), TimeProvider.System);
            for (var has = 0; has != count;)
            {
                patience.Token.ThrowIfCancellationRequested();
                await Task.Yield();
                lock (_gate)
                {
                    has = _held.Count;
                }
            }
        }
    }

    private sealed class UnrejectableDelivery(Command command) : Delivery(command, new PartitionAssignment(new("t", 0)))
    {
        public override void Settle() => throw new NotSupportedException();

        public override void Reject(string reason) => throw new NotSupportedException();
    }
}
