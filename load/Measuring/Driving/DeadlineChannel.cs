using Billing.V1;
using Grpc.Core;

namespace Billing.Measuring.Driving;

/// <summary>Gives the requests of a channel that has no deadline of its own as long as those of the others have: one that is not
/// answered by then has failed, and its answer, should it still come, counts for nothing.</summary>
/// <param name="channel">The channel.</param>
/// <param name="deadline">How long a request may take.</param>
/// <param name="time">Measures that.</param>
internal sealed class DeadlineChannel(IRequestChannel channel, TimeSpan deadline, TimeProvider time) : IRequestChannel
{
    private static readonly string Overdue = nameof(StatusCode.DeadlineExceeded);

    public Task<RequestOutcome> PayAsync(MakePaymentRequest request) => InTimeAsync(channel.PayAsync(request));

    public Task<RequestOutcome> CheckAsync(CheckBalanceRequest request) => InTimeAsync(channel.CheckAsync(request));

    public ValueTask DisposeAsync() => channel.DisposeAsync();

    private async Task<RequestOutcome> InTimeAsync(Task<RequestOutcome> outcome)
    {
        try
        {
            return await outcome.WaitAsync(deadline, time);
        }
        catch (TimeoutException)
        {
            return RequestOutcome.Failed(Overdue);
        }
    }
}
