using System.Threading.Channels;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Proxy;

/// <summary>One MakePayments call. It holds a bounded number of payments, each from the reading of its request until its
/// answer is written: where the caller reads slowly, requests are read slowly, and HTTP/2 stops the caller.</summary>
internal sealed class PaymentStream : IDisposable
{
    // A write for each answer costs more than the answer. So many go out together, where as many wait.
    private const int FlushEvery = 64;

    private readonly CommandSender _sender;
    private readonly IAsyncStreamReader<MakePaymentRequest> _requests;
    private readonly DrainingWriter<MakePaymentResponse> _responses;
    private readonly Patience _patience;
    private readonly CancellationToken _closing;
    private readonly SemaphoreSlim _places;
    private readonly CancellationTokenSource _ended;
    private readonly TaskCompletionSource _idle = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private readonly Channel<MakePaymentResponse> _answers =
        Channel.CreateUnbounded<MakePaymentResponse>(new UnboundedChannelOptions { SingleReader = true });

    // The payments that have no answer yet, and the reading of requests.
    private int _active = 1;

    public PaymentStream(
        CommandSender sender, IAsyncStreamReader<MakePaymentRequest> requests, DrainingWriter<MakePaymentResponse> responses,
        int window, Patience patience, CancellationToken closing, CancellationToken cancellationToken)
    {
        _sender = sender;
        _requests = requests;
        _responses = responses;
        _patience = patience;
        _closing = closing;
        _places = new SemaphoreSlim(window);
        _ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
    }

    /// <summary>Answers every payment until the caller has no more.</summary>
    /// <exception cref="RpcException">UNAVAILABLE: the proxy is shutting down; what it had taken is answered.</exception>
    public async Task RunAsync()
    {
        var reading = EndingAllAsync(ReadAsync());
        var writing = EndingAllAsync(WriteAsync());
        try
        {
            await Task.WhenAll(reading, writing);
        }
        finally
        {
            // The stream's places in the proxy are given back when this returns: nothing may be under way by then.
            await _idle.Task;
        }
        if (!await reading)
        {
            throw Admission.Closed();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _ended.Dispose();
        _places.Dispose();
    }

    private async Task<bool> EndingAllAsync(Task<bool> work)
    {
        try
        {
            return await work;
        }
        catch
        {
            await _ended.CancelAsync();
            throw;
        }
    }

    /// <summary>Reads the requests; false where it stopped because the proxy is shutting down.</summary>
    private async Task<bool> ReadAsync()
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(_ended.Token, _closing);
        try
        {
            await _places.WaitAsync(stop.Token);
            while (await _requests.MoveNext(stop.Token))
            {
                Interlocked.Increment(ref _active);
                _ = AnswerAsync(_requests.Current);
                await _places.WaitAsync(stop.Token);
            }
            return true;
        }
        catch (OperationCanceledException) when (_closing.IsCancellationRequested && !_ended.IsCancellationRequested)
        {
            return false;
        }
        finally
        {
            Leave();
        }
    }

    private async Task AnswerAsync(MakePaymentRequest request)
    {
        try
        {
            _answers.Writer.TryWrite(await PayAsync(request));
        }
        catch (Exception e)
        {
            _answers.Writer.TryComplete(e);
        }
        finally
        {
            Leave();
        }
    }

    private async Task<MakePaymentResponse> PayAsync(MakePaymentRequest request)
    {
        try
        {
            _sender.Check(request, FieldRules.Check(request));
            var command = new Command { TransactionId = request.TransactionId, Payment = request };
            var reply = await _sender.SendAsync(command, _patience, _ended.Token);
            return reply.Payment ?? throw Failure.OtherReply(reply);
        }
        catch (RpcException e)
        {
            return new MakePaymentResponse
            {
                TransactionId = request.TransactionId,
                Outcome = PaymentOutcome.Failed,
                Error = Failure.ToPaymentError(e),
            };
        }
    }

    private async Task<bool> WriteAsync()
    {
        while (await _answers.Reader.WaitToReadAsync(_ended.Token))
        {
            var written = 0;
            while (_answers.Reader.TryRead(out var answer))
            {
                var flush = ++written == FlushEvery || !_answers.Reader.TryPeek(out _);
                await _responses.WriteAsync(answer, flush);
                if (flush)
                {
                    _places.Release(written);
                    written = 0;
                }
            }
        }
        return true;
    }

    private void Leave()
    {
        if (Interlocked.Decrement(ref _active) == 0)
        {
            _answers.Writer.TryComplete();
            _idle.TrySetResult();
        }
    }
}
