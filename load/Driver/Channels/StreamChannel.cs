using System.Collections.Concurrent;
using System.Threading.Channels;
using Billing.Client;
using Billing.V1;
using Grpc.Core;

namespace Billing.Driver.Channels;

/// <summary>Makes payments over the SDK's bulk stream.</summary>
internal sealed class StreamChannel : IRequestChannel
{
    private readonly BillingClient _client;
    private readonly ConcurrentDictionary<string, TaskCompletionSource<Answer<MakePaymentResponse>>> _waiting = new(
        StringComparer.Ordinal);
    private readonly Channel<MakePaymentRequest> _outgoing =
        Channel.CreateUnbounded<MakePaymentRequest>(new UnboundedChannelOptions { SingleReader = true });

    private readonly CancellationTokenSource _closed = new();
    private readonly Task _running;

    public StreamChannel(BillingClient client)
    {
        _client = client;
        _running = RunAsync();
    }

    public long Retried => _client.Retried;

    public Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request)
    {
        var waiting = new TaskCompletionSource<Answer<MakePaymentResponse>>(
            TaskCreationOptions.RunContinuationsAsynchronously);
        _waiting[request.TransactionId] = waiting;
        if (!_outgoing.Writer.TryWrite(request))
        {
            Complete(
                request.TransactionId,
                new Answer<MakePaymentResponse>(null, nameof(StatusCode.Cancelled), IsFinal: true));
        }
        return waiting.Task;
    }

    /// <exception cref="NotSupportedException">The stream carries payments only.</exception>
    public Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request) =>
        throw new NotSupportedException("A bulk stream carries payments only.");

    public async ValueTask DisposeAsync()
    {
        _outgoing.Writer.TryComplete();
        await _closed.CancelAsync();
        await _running;
        _client.Dispose();
        _closed.Dispose();
    }

    private async Task RunAsync()
    {
        while (!_closed.IsCancellationRequested)
        {
            try
            {
                await foreach (var answer in _client.MakePaymentsAsync(
                    _outgoing.Reader.ReadAllAsync(_closed.Token), _closed.Token))
                {
                    Complete(answer.TransactionId, AnswerOf(answer));
                }
            }
            catch (RpcException e)
            {
                // No proxy accepted the stream. What the SDK had taken and not sent, it drops;
                // payments to come may find a proxy.
                Fail(e.StatusCode);
            }
            catch (OperationCanceledException)
            {
                break;
            }
        }
        Fail(StatusCode.Cancelled);
    }

    private void Fail(StatusCode status)
    {
        foreach (var transaction in _waiting.Keys)
        {
            Complete(transaction, new Answer<MakePaymentResponse>(null, status.ToString()));
        }
    }

    private void Complete(string transactionId, Answer<MakePaymentResponse> answer)
    {
        if (_waiting.TryRemove(transactionId, out var waiting))
        {
            waiting.TrySetResult(answer);
        }
    }

    private static Answer<MakePaymentResponse> AnswerOf(MakePaymentsResponse answer) => answer.Error is { } error
        ? new(
            null, $"{(StatusCode)error.StatusCode} {error.Reason}".TrimEnd(),
            PaymentFailure.IsFinal((StatusCode)error.StatusCode, error.Reason, wasRetried: true))
        : new(answer.Payment);
}
