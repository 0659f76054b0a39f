using Billing.Backends;
using Billing.Hosting;
using Billing.Messaging;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Backends;

public sealed class ReplierTests
{
    private readonly ManualPublisher _publisher = new();
    private readonly Supervisor _supervisor = Supervision.New();
    private readonly Replier _replier;
    private readonly RecordingDelivery _delivery = new(Samples.PaymentCommand(correlationId: 7));

    public ReplierTests()
    {
        _replier = new Replier(_publisher, _supervisor, NullLogger<Replier>.Instance);
        _replier.Enter(1);
    }

    [Fact]
    public void A_command_is_settled_only_when_its_answer_is_acknowledged()
    {
        _replier.Publish([(_delivery, new Reply { CorrelationId = 7 })], []);
        Assert.False(_delivery.IsSettled);
        Assert.Equal(1, _replier.InFlight);
        _publisher.Acknowledged.SetResult();
        Assert.True(_delivery.IsSettled);
        Assert.Equal(0, _replier.InFlight);
        Assert.Equal(Samples.ReplyTopic, Assert.Single(_publisher.Answers).ProxyTopic);
    }

    [Fact]
    public void A_command_whose_answer_cannot_be_published_stays_unsettled_and_the_process_fails()
    {
        _replier.Publish([(_delivery, new Reply { CorrelationId = 7 })], []);
        _publisher.Acknowledged.SetException(new IOException());
        Assert.False(_delivery.IsSettled);
        Assert.Equal(0, _replier.InFlight);
        Assert.False(_supervisor.IsHealthy);
    }

    [Fact]
    public void A_rejected_command_is_sent_to_the_dead_letters_and_its_sender_is_answered()
    {
        _replier.Reject(_delivery, "poison", Replies.Error(7, StatusCode.Internal, "PROCESSING_FAILED", "poison"));
        Assert.Equal("poison", _delivery.Rejection);
        Assert.Equal("poison", Assert.Single(_publisher.Answers).Reply.Error.Message);
        Assert.Equal(0, _replier.InFlight);
    }

    [Fact]
    public void A_command_whose_caller_was_already_answered_is_settled_without_a_second_answer()
    {
        _replier.Publish([(_delivery, null)], []);
        _publisher.Acknowledged.SetResult();
        Assert.True(_delivery.IsSettled);
        Assert.Empty(_publisher.Answers);
    }

    [Fact]
    public void A_caller_can_be_answered_while_its_command_stays_in_flight()
    {
        _replier.Answer(
            [(_delivery, Replies.Error(7, StatusCode.Unavailable, "EVENT_STORE_UNAVAILABLE", "unavailable"))]);
        _publisher.Acknowledged.SetResult();
        Assert.Equal("unavailable", Assert.Single(_publisher.Answers).Reply.Error.Message);
        Assert.False(_delivery.IsSettled);
        Assert.Equal(1, _replier.InFlight);
    }

    private sealed class ManualPublisher : IAnswerPublisher
    {
        public TaskCompletionSource Acknowledged { get; } = new();

        public List<Answer> Answers { get; } = [];

        public Task PublishAsync(
            IReadOnlyList<Answer> answers, IReadOnlyList<Event> events, CancellationToken cancellationToken)
        {
            Answers.AddRange(answers);
            return Acknowledged.Task;
        }

        public Task SendAsync(Command command) => throw new NotSupportedException();
    }
}
