using Billing.V1;
using Grpc.Core;

namespace Billing.Driver.Channels;

/// <summary>Adds a timeout to a channel without deadlines. A call that is not answered in time counts as failed,
/// and a later answer is ignored.</summary>
/// <param name="deadline">The longest time that a call may take.</param>
/// <param name="time">The clock for the timeout.</param>
internal sealed class DeadlineChannel(IRequestChannel channel, TimeSpan deadline, TimeProvider time) : IRequestChannel
{
    public Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request) =>
        InTimeAsync(channel.PayAsync(request));

    public Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request) =>
        InTimeAsync(channel.CheckAsync(request));

    public ValueTask DisposeAsync() => channel.DisposeAsync();

    private async Task<Answer<T>> InTimeAsync<T>(Task<Answer<T>> answer)
        where T : class
    {
        try
        {
            return await answer.WaitAsync(deadline, time);
        }
        catch (TimeoutException)
        {
            return new Answer<T>(null, nameof(StatusCode.DeadlineExceeded));
        }
    }
}
