using System.Threading.Channels;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Telemetry;
using Billing.V1;
using Grpc.Core;

namespace Billing.Proxy.Calls;

/// <summary>One MakePayments call. The number of payments in flight is bounded, each from when its request is read
/// until its answer is written. So if the caller reads slowly, its requests are read slowly, and HTTP/2 flow control
/// gives it back-pressure. If the caller goes, each payment in flight keeps its place until it is answered.</summary>
internal sealed class PaymentStream(
    RequestHandler handler, IncomingCall call, IAsyncStreamReader<MakePaymentRequest> requests,
    DrainingWriter<MakePaymentsResponse> responses, StreamPlaces places, TimeSpan idleMax,
    TimeProvider time, StreamEnd end) : IDisposable
{
    // A flush for each answer costs more than the answer: up to this many waiting answers are flushed together.
    private const int FlushEvery = 64;

    private readonly CancellationTokenSource _ended = CancellationTokenSource.CreateLinkedTokenSource(call.Gone);
    private readonly CancellationTokenSource _unused = new();

    private readonly Channel<MakePaymentsResponse> _answers =
        Channel.CreateUnbounded<MakePaymentsResponse>(new UnboundedChannelOptions { SingleReader = true });

    private ITimer? _watch;

    // The number of payments without an answer, plus one while requests are read.
    private int _active = 1;

    // The number of payments whose answer is not written yet.
    private int _inHand;
    private long _lastUsed = time.GetTimestamp();

    /// <summary>Answers every payment until the caller has no more.</summary>
    /// <exception cref="FailureException">The stream has to end, or was idle for too long;
    /// the payments already read have been answered.</exception>
    public async Task RunAsync()
    {
        _watch = time.CreateTimer(_ => EndIfIdle(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _watch.Change(idleMax, Timeout.InfiniteTimeSpan);
        var reading = EndingAllAsync(ReadAsync());
        var writing = EndingAllAsync(WriteAsync());
        await Task.WhenAll(reading, writing);
        if (!await reading)
        {
            throw new FailureException(end.Token.IsCancellationRequested ? end.Failure : Idle());
        }
    }

    public void Dispose()
    {
        _watch?.Dispose();
        _unused.Dispose();
        _ended.Dispose();
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

    /// <summary>Reads the requests; false if it stopped because the stream has to end or was idle.</summary>
    private async Task<bool> ReadAsync()
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(_ended.Token, end.Token, _unused.Token);
        var free = 0;
        try
        {
            while (true)
            {
                await places.TakeAsync(stop.Token);
                free = 1;
                if (!await requests.MoveNext(stop.Token))
                {
                    return true;
                }
                await places.WaitForTurnAsync(stop.Token);
                free = 0;
                Interlocked.Increment(ref _inHand);
                Interlocked.Increment(ref _active);
                _ = AnswerAsync(requests.Current);
            }
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested && !_ended.IsCancellationRequested)
        {
            return false;
        }
        finally
        {
            places.Release(free);
            Leave();
        }
    }

    private async Task AnswerAsync(MakePaymentRequest request)
    {
        try
        {
            if (!_answers.Writer.TryWrite(await PayAsync(request)))
            {
                // Nobody writes the answer any more.
                places.Release(1);
            }
        }
        catch (Exception e)
        {
            _answers.Writer.TryComplete(e);
            places.Release(1);
        }
        finally
        {
            Leave();
        }
    }

    private async Task<MakePaymentsResponse> PayAsync(MakePaymentRequest request)
    {
        var outcome = await handler.HandleInStreamAsync(RequestKinds.Payment, request, call);
        if (outcome.Failure is not { } failure)
        {
            StreamMetrics.Answered(outcome.Value.Outcome);
            return new MakePaymentsResponse { TransactionId = request.TransactionId, Payment = outcome.Value };
        }
        StreamMetrics.Answered(failure);
        return new MakePaymentsResponse { TransactionId = request.TransactionId, Error = failure.ToPaymentError() };
    }

    private async Task<bool> WriteAsync()
    {
        var written = 0;
        try
        {
            while (await _answers.Reader.WaitToReadAsync(_ended.Token))
            {
                while (_answers.Reader.TryRead(out var answer))
                {
                    var flush = ++written == FlushEvery || !_answers.Reader.TryPeek(out _);
                    await responses.WriteAsync(answer, flush);
                    if (flush)
                    {
                        // The time is written first: otherwise the watch could see no payment in flight, and an old
                        // time of last use.
                        Volatile.Write(ref _lastUsed, time.GetTimestamp());
                        Interlocked.Add(ref _inHand, -written);
                        places.Release(written);
                        written = 0;
                    }
                }
            }
            return true;
        }
        finally
        {
            // Answers that are left, because the caller has gone, are not written: their places are free.
            _answers.Writer.TryComplete();
            while (_answers.Reader.TryRead(out _))
            {
                written++;
            }
            places.Release(written);
        }
    }

    private void EndIfIdle()
    {
        try
        {
            var unused =
                Volatile.Read(ref _inHand) > 0 ? TimeSpan.Zero : time.GetElapsedTime(Volatile.Read(ref _lastUsed));
            if (unused >= idleMax)
            {
                _unused.Cancel();
            }
            else
            {
                _watch!.Change(idleMax - unused, Timeout.InfiniteTimeSpan);
            }
        }
        catch (ObjectDisposedException)
        {
            // The stream has ended in the meantime.
        }
    }

    private Failure Idle() => new(
        StatusCode.Unavailable, ErrorReasons.StreamIdle,
        $"The stream was idle for {idleMax} (Billing:Proxy:StreamIdleMax); "
            + "open another when there is something to send.");

    private void Leave()
    {
        if (Interlocked.Decrement(ref _active) == 0)
        {
            _answers.Writer.TryComplete();
        }
    }
}
