using Billing.Client;
using Billing.V1;
using Grpc.Core;

namespace Billing.Driver.Channels;

/// <summary>Calls through the SDK, as the platform's users do: over all proxies in turn, with its retries.</summary>
internal sealed class SdkChannel(BillingClient client, bool isTimed, TimeProvider time) : IRequestChannel
{
    public long Retried => client.Retried;

    public Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request) => AnswerAsync(
        async () =>
        {
            if (!isTimed)
            {
                return new Answer<MakePaymentResponse>(await client.MakePaymentAsync(request));
            }
            var timed = await client.MakeTimedPaymentAsync(request, time);
            return new Answer<MakePaymentResponse>(timed.Answer) { Times = timed.Times };
        });

    public Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request) =>
        AnswerAsync(async () => new Answer<CheckBalanceResponse>(await client.CheckBalanceAsync(request)));

    public Task<Answer<T>> AskAsync<T>(Func<BillingClient, CancellationToken, Task<T>> send, bool isRepeatable)
        where T : class => AnswerAsync(async () => new Answer<T>(await send(client, CancellationToken.None)));

    public ValueTask DisposeAsync()
    {
        client.Dispose();
        return ValueTask.CompletedTask;
    }

    private async Task<Answer<T>> AnswerAsync<T>(Func<Task<Answer<T>>> call)
        where T : class
    {
        // Of all calls of the client: the SDK does not count those of one call. What is wrong is that a failure is
        // taken for unknown.
        var retried = client.Retried;
        try
        {
            return await call();
        }
        catch (RpcException e)
        {
            return new Answer<T>(
                null, e.Status.Detail.Length > 0 ? $"{e.StatusCode}: {e.Status.Detail}" : $"{e.StatusCode}",
                PaymentFailure.IsFinal(e, wasRetried: client.Retried != retried));
        }
    }
}
