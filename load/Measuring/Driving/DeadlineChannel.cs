using Billing.V1;
using Grpc.Core;

namespace Billing.Measuring.Driving;

/// <summary>Adds a timeout to a channel without deadlines. A request that is not answered in time counts as failed, and a later
/// answer is ignored.</summary>
/// <param name="channel">The channel.</param>
/// <param name="deadline">The longest time that a request may take.</param>
/// <param name="time">The clock for the timeout.</param>
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
