using Billing.Messaging;
using Billing.Messaging.Embedded;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;

namespace Billing.UnitTests.Messaging.Embedded;

public sealed class EmbeddedReadModelTests : IDisposable
{
    private readonly PendingReplies _pending = new(new ManualTime());
    private readonly RecordingModel _model = new();
    private readonly RecordingHandler _handler;
    private readonly EmbeddedTransport _transport;

    public EmbeddedReadModelTests()
    {
        RecordingHandler? created = null;
        _transport = new EmbeddedTransport(_pending, publisher =>
        {
            created = new RecordingHandler(publisher);
            return new EmbeddedHandlers([created], [created], [_model]);
        }, "test", Supervision.New());
        _handler = created!;
        _model.OnReset = () => Assert.False(_handler.IsRunning);
    }

    public void Dispose()
    {
        _transport.Dispose();
        _pending.Dispose();
    }

    [Fact]
    public async Task A_read_model_is_reset_before_the_handlers_start()
    {
        await _transport.StartAsync(CancellationToken.None);

        Assert.Equal(1, _model.Resets);
        Assert.True(_handler.IsRunning);
        await _transport.StopAsync(CancellationToken.None);
    }

    [Fact]
    public async Task A_read_model_receives_an_event_before_its_command_is_answered()
    {
        var (id, reply) = _pending.Register(Samples.PaymentRequest());
        _model.OnApply = () => Assert.False(reply.IsCompleted);

        await _transport.PublishAsync(
            [new Answer(Samples.ReplyTopic, new Reply { CorrelationId = id })],
            [new Event { StreamId = "visa/a", Version = 1 }], CancellationToken.None);

        await reply;
        Assert.Equal("visa/a", Assert.Single(_model.Applied).StreamId);
    }

    [Fact]
    public async Task Events_published_concurrently_reach_a_read_model_one_batch_at_a_time()
    {
        await Task.WhenAll(Enumerable.Range(1, 8).Select(n => Task.Run(async () =>
        {
            for (var version = 1; version <= 500; version++)
            {
                await _transport.PublishAsync(
                    [], [new Event { StreamId = $"visa/{n}", Version = version }], CancellationToken.None);
            }
        })));

        Assert.Equal(8 * 500, _model.Applied.Count);
    }

    private sealed class RecordingModel : IReadModel
    {
        private int _concurrent;

        public int Resets { get; private set; }

        public List<Event> Applied { get; } = [];

        public Action OnReset { get; set; } = () => { };

        public Action OnApply { get; set; } = () => { };

        public void Reset()
        {
            OnReset();
            Resets++;
        }

        public void Apply(IReadOnlyList<Event> events)
        {
            Assert.Equal(1, Interlocked.Increment(ref _concurrent));
            OnApply();
            Applied.AddRange(events);
            Interlocked.Decrement(ref _concurrent);
        }
    }
}
