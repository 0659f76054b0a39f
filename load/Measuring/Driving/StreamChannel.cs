using System.Collections.Concurrent;
using System.Threading.Channels;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.Measuring.Driving;

/// <summary>Sends payments on one bidirectional stream. When the stream breaks, the payments in flight fail, and the next payment
/// opens a new stream.</summary>
internal sealed class StreamChannel(string address, TimeProvider time) : IRequestChannel
{
    // A server that still has requests to answer may never end the stream.
    private static readonly TimeSpan EndMax = TimeSpan.FromSeconds(5);

    private readonly GrpcChannel _channel = GrpcConnection.Open(address);
    private readonly Lock _opening = new();
    private PaymentsOnStream? _stream;

    public Task<RequestOutcome> PayAsync(MakePaymentRequest request)
    {
        lock (_opening)
        {
            if (_stream is null or { HasEnded: true })
            {
                _stream = new PaymentsOnStream(new V1.Billing.BillingClient(_channel).MakePayments());
            }
            return _stream.PayAsync(request);
        }
    }

    /// <exception cref="NotSupportedException">The stream carries payments only.</exception>
    public Task<RequestOutcome> CheckAsync(CheckBalanceRequest request) =>
        throw new NotSupportedException("A bulk stream carries payments only.");

    public async ValueTask DisposeAsync()
    {
        if (_stream is { } stream)
        {
            await stream.CompleteAsync(EndMax, time);
        }
        _channel.Dispose();
    }

    private sealed class PaymentsOnStream
    {
        private readonly AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentResponse> _call;
        private readonly ConcurrentDictionary<string, TaskCompletionSource<RequestOutcome>> _waiting = new(StringComparer.Ordinal);
        private readonly Channel<MakePaymentRequest> _outgoing =
            Channel.CreateUnbounded<MakePaymentRequest>(new UnboundedChannelOptions { SingleReader = true });

        private readonly Task _running;
        private volatile string? _ended;

        public PaymentsOnStream(AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentResponse> call)
        {
            _call = call;
            _running = Task.WhenAll(WriteAsync(), ReadAsync());
        }

        public bool HasEnded => _ended is not null;

        public Task<RequestOutcome> PayAsync(MakePaymentRequest request)
        {
            var waiting = new TaskCompletionSource<RequestOutcome>(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiting[request.TransactionId] = waiting;
            if (!_outgoing.Writer.TryWrite(request) || _ended is not null)
            {
                Complete(request.TransactionId, RequestOutcome.Failed(_ended ?? nameof(StatusCode.Cancelled)));
            }
            return waiting.Task;
        }

        public async Task CompleteAsync(TimeSpan timeout, TimeProvider time)
        {
            _outgoing.Writer.TryComplete();
            await _running.WaitAsync(timeout, time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            _call.Dispose();
            await _running;
        }

        private async Task WriteAsync()
        {
            try
            {
                await foreach (var request in _outgoing.Reader.ReadAllAsync())
                {
                    await _call.RequestStream.WriteAsync(request);
                }
                await _call.RequestStream.CompleteAsync();
            }
            catch (Exception e) when (e is RpcException or InvalidOperationException)
            {
                // ReadAsync gets the status of the stream.
            }
        }

        private async Task ReadAsync()
        {
            var ended = nameof(StatusCode.OK);
            try
            {
                await foreach (var answer in _call.ResponseStream.ReadAllAsync())
                {
                    Complete(answer.TransactionId, Outcome(answer));
                }
            }
            catch (RpcException e)
            {
                ended = e.StatusCode.ToString();
            }
            _ended = ended;
            _outgoing.Writer.TryComplete();
            foreach (var transaction in _waiting.Keys)
            {
                Complete(transaction, RequestOutcome.Failed(ended));
            }
        }

        private void Complete(string transactionId, RequestOutcome outcome)
        {
            if (_waiting.TryRemove(transactionId, out var waiting))
            {
                waiting.TrySetResult(outcome);
            }
        }

        private static RequestOutcome Outcome(MakePaymentResponse answer) => answer.Outcome == PaymentOutcome.Failed
            ? RequestOutcome.Failed(answer.Error.Reason)
            : RequestOutcome.Answered(answer.Outcome == PaymentOutcome.Declined);
    }
}
