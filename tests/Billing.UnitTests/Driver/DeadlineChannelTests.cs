using Billing.Driver.Channels;
using Billing.V1;

namespace Billing.UnitTests.Driver;

public sealed class DeadlineChannelTests
{
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(30);

    private readonly ManualTime _time = new();
    private readonly TaskCompletionSource<Answer<MakePaymentResponse>> _answer = new(
        TaskCreationOptions.RunContinuationsAsynchronously);

    [Fact]
    public async Task A_request_without_an_answer_by_its_deadline_fails()
    {
        await using var channel = Channel();
        var request = channel.PayAsync(new MakePaymentRequest());

        _time.Advance(Deadline - TimeSpan.FromTicks(1));
        Assert.False(request.IsCompleted);
        _time.Advance(TimeSpan.FromTicks(1));

        Assert.Equal("DeadlineExceeded", (await request).Error);
        // A late answer causes no error.
        _answer.SetResult(new Answer<MakePaymentResponse>(new MakePaymentResponse()));
    }

    [Fact]
    public async Task An_answer_in_time_is_passed_on()
    {
        await using var channel = Channel();
        var request = channel.PayAsync(new MakePaymentRequest());

        var answer = new Answer<MakePaymentResponse>(new MakePaymentResponse { Outcome = PaymentOutcome.Declined });
        _answer.SetResult(answer);

        Assert.Equal(answer, await request);
    }

    private DeadlineChannel Channel() => new(new AnsweringBy(_answer.Task), Deadline, _time);

    private sealed class AnsweringBy(Task<Answer<MakePaymentResponse>> answer) : IRequestChannel
    {
        public Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request) => answer;

        public Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request) =>
            throw new NotSupportedException();

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
