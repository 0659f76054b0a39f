using Billing.Backends;
using Billing.Backends.EventStore;
using Billing.Backends.Payments;
using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Backends.EventStore;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Npgsql;

namespace Billing.UnitTests.Backends.Payments;

/// <summary>How holds whose time is over are found and handed to the owners of their accounts.</summary>
public sealed class ExpiredHoldsTests : IDisposable
{
    private static readonly TimeSpan Interval = new BackendOptions().HoldExpiryInterval;

    private readonly ManualTime _time = new();
    private readonly FakeAccountStore _store = new();
    private readonly Publisher _publisher = new();
    private readonly ExpiredHolds _expired;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _running;

    public ExpiredHoldsTests()
    {
        _expired = new ExpiredHolds(
            [_store], _publisher, Options.Create(new BackendOptions()),
            Supervision.New(), _time, NullLogger<ExpiredHolds>.Instance);
        _running = _expired.RunAsync(_stopping.Token);
    }

    public void Dispose()
    {
        _stopping.Cancel();
        _stopping.Dispose();
        _expired.Dispose();
    }

    [Fact]
    public void A_due_hold_is_sent_to_its_account_with_the_time_when_it_was_found_and_without_a_reply_topic()
    {
        var payment = Hold("amex/a.b");

        _time.Advance(Interval);

        var command = Assert.Single(_publisher.Sent);
        Assert.Null(WireFormat.Refusal(command));
        Assert.Equal((PaymentType.Amex, "a.b"), (command.Expiry.PaymentType, command.Expiry.AccountId));
        Assert.Equal((payment.ToString(), ""), (command.Expiry.PaymentId, command.ProxyTopic));
        Assert.NotEqual(command.TransactionId, command.Expiry.PaymentId);
        Assert.Equal(UnixTime.Microseconds(_time.GetUtcNow()), command.Expiry.AsOfUnixUs);
        Assert.False(_running.IsCompleted);
    }

    [Fact]
    public void More_due_holds_than_are_taken_at_a_time_are_all_sent_in_one_turn()
    {
        for (var i = 0; i < 1_201; i++)
        {
            Hold("visa/a");
        }

        _time.Advance(Interval);

        Assert.Equal(1_201, _publisher.Sent.Count);
    }

    [Fact]
    public void While_the_database_is_away_it_is_asked_again_and_nothing_ends()
    {
        Hold("visa/a");
        _store.TakingHolds = () => new NpgsqlException("away");
        _time.Advance(Interval);

        _store.TakingHolds = () => null;
        _time.Advance(Interval);

        Assert.Single(_publisher.Sent);
        Assert.False(_running.IsCompleted);
    }

    [Fact]
    public async Task A_connection_that_breaks_while_the_backend_stops_is_no_failure_of_it()
    {
        _store.TakingHolds = () =>
        {
            _stopping.Cancel();
            return new NpgsqlException("broken");
        };
        _time.Advance(Interval);

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => _running);
    }

    [Fact]
    public void A_backend_that_reaches_no_broker_leaves_holds_to_others_for_a_while()
    {
        Hold("visa/a");
        _publisher.Fails = true;
        _time.Advance(Interval);
        _publisher.Fails = false;
        Hold("visa/b");

        _time.Advance(Interval);
        Assert.Empty(_publisher.Sent);

        _time.Advance(TimeSpan.FromSeconds(30));
        _time.Advance(Interval);
        Assert.Single(_publisher.Sent);
    }

    [Theory]
    [InlineData("visa/refused")]
    [InlineData("no stream of an account")]
    public void A_hold_that_cannot_be_sent_does_not_keep_the_others_back(string bad)
    {
        Hold("visa/a");
        Hold(bad);
        Hold("visa/b");

        _time.Advance(Interval);

        Assert.Equal(["a", "b"], _publisher.Sent.Select(command => command.Expiry.AccountId));
        Assert.False(_running.IsCompleted);
    }

    private Guid Hold(string streamId)
    {
        var id = Guid.NewGuid();
        _store.DueHolds.Add(new CommandId(id, streamId));
        return id;
    }

    private sealed class Publisher : IAnswerPublisher
    {
        public List<Command> Sent { get; } = [];

        public bool Fails { get; set; }

        public Task PublishAsync(
            IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public Task SendAsync(Command command)
        {
            if (Fails || command.Expiry.AccountId == "refused")
            {
                throw new TimeoutException();
            }
            Sent.Add(command);
            return Task.CompletedTask;
        }
    }
}
