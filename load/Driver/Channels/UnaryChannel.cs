using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.Driver.Channels;

/// <summary>Sends each request as a gRPC call, all on one connection, without retries.</summary>
internal sealed class UnaryChannel(GrpcChannel channel, LoadSpec spec, TimeProvider time) : IRequestChannel
{
    private readonly BillingService.BillingServiceClient _billing = new(channel);

    public Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request) =>
        AnswerAsync(() => AnswerOfAsync(_billing.MakePaymentAsync(request, deadline: Deadline())));

    public Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request) =>
        AnswerAsync(() => AnswerOfAsync(_billing.CheckBalanceAsync(request, deadline: Deadline())));

    public ValueTask DisposeAsync()
    {
        channel.Dispose();
        return ValueTask.CompletedTask;
    }

    private static async Task<Answer<T>> AnswerOfAsync<T>(AsyncUnaryCall<T> call)
        where T : class => new(await call);

    private static async Task<Answer<T>> AnswerAsync<T>(Func<Task<Answer<T>>> call)
        where T : class
    {
        try
        {
            return await call();
        }
        catch (RpcException e)
        {
            return new Answer<T>(null, e.StatusCode.ToString(), PaymentFailure.IsFinal(e, wasRetried: false));
        }
    }

    private DateTime Deadline() => time.GetUtcNow().UtcDateTime.AddSeconds(spec.DeadlineS);
}
