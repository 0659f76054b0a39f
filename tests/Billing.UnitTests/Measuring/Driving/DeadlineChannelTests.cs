using Billing.Measuring.Driving;
using Billing.V1;

namespace Billing.UnitTests.Measuring.Driving;

public sealed class DeadlineChannelTests
{
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(30);

    private readonly ManualTime _time = new();
    private readonly TaskCompletionSource<RequestOutcome> _answer = new(TaskCreationOptions.RunContinuationsAsynchronously);

    [Fact]
    public async Task A_request_without_an_answer_by_its_deadline_fails()
    {
        await using var channel = Channel();
        Task<RequestOutcome>[] requests = [channel.PayAsync(new MakePaymentRequest()), channel.CheckAsync(new CheckBalanceRequest())];

        _time.Advance(Deadline - TimeSpan.FromTicks(1));
        Assert.All(requests, request => Assert.False(request.IsCompleted));
        _time.Advance(TimeSpan.FromTicks(1));

        Assert.All(await Task.WhenAll(requests), outcome => Assert.Equal("DeadlineExceeded", outcome.Error));
        // A late answer causes no error.
        _answer.SetResult(RequestOutcome.Answered());
    }

    [Fact]
    public async Task An_answer_in_time_is_passed_on()
    {
        await using var channel = Channel();
        var request = channel.PayAsync(new MakePaymentRequest());

        _answer.SetResult(RequestOutcome.Answered(declined: true));

        Assert.Equal(RequestOutcome.Answered(declined: true), await request);
    }

    private DeadlineChannel Channel() => new(new AnsweringBy(_answer.Task), Deadline, _time);

    private sealed class AnsweringBy(Task<RequestOutcome> answer) : IRequestChannel
    {
        public Task<RequestOutcome> PayAsync(MakePaymentRequest request) => answer;

        public Task<RequestOutcome> CheckAsync(CheckBalanceRequest request) => answer;

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
