using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.Driver.Channels;

/// <summary>Sends each request as a gRPC call, all on one connection, without retries.</summary>
internal sealed class UnaryChannel(GrpcChannel channel, LoadSpec spec, TimeProvider time) : IRequestChannel
{
    private readonly BillingService.BillingServiceClient _billing = new(channel);
    private readonly Metadata? _headers = spec.Token.Length > 0 ? new Metadata { { "authorization", "Bearer " + spec.Token } } : null;
    private int _sent;

    public Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request) => AnswerAsync(() =>
        spec.TimedEvery > 0 && (uint)Interlocked.Increment(ref _sent) % spec.TimedEvery == 0
            ? PayTimedAsync(request)
            : AnswerOfAsync(_billing.MakePaymentAsync(request, _headers, Deadline())));

    public Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request) =>
        AnswerAsync(() => AnswerOfAsync(_billing.CheckBalanceAsync(request, _headers, Deadline())));

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

    private async Task<Answer<MakePaymentResponse>> PayTimedAsync(MakePaymentRequest request)
    {
        var headers = new Metadata();
        foreach (var entry in _headers ?? [])
        {
            headers.Add(entry);
        }
        headers.Add(RequestHeaders.SentAt, time.Microseconds().ToString(CultureInfo.InvariantCulture));
        using var call = _billing.MakePaymentAsync(request, headers, Deadline());
        var answer = await call;
        var returned = time.GetUtcNow();
        return new Answer<MakePaymentResponse>(answer)
        {
            Times = StepTimes.TryParse(call.GetTrailers().GetValue(Trailers.Times), out var times) ? times with { Returned = returned } : null,
        };
    }

    private DateTime Deadline() => time.GetUtcNow().UtcDateTime.AddSeconds(spec.DeadlineS);
}
