using System.Runtime.CompilerServices;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>One run of bulk payments: reads the requests, sends them over one stream after another,
/// and returns the answers.</summary>
internal sealed class BulkPayments(StreamCalls streams, RetryBudget budget, int window, TimeProvider time)
{
    private static readonly WriteOptions Buffered = new(WriteFlags.BufferHint);

    private uint _turn = streams.NextTurn();

    public async IAsyncEnumerable<BulkAnswer> RunAsync(
        IAsyncEnumerable<MakePaymentRequest> requests, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var payments = new InFlightPayments(streams.Retries);
        // One for each payment that may be in flight, until its answer was returned to the caller.
        using var slots = new SemaphoreSlim(window);
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var taking = TakeAsync(requests, payments, slots, ended.Token);
        var sending = KeepSendingAsync(payments, ended.Token);
        try
        {
            await foreach (var answer in payments.Answers.ReadAllAsync(cancellationToken).ConfigureAwait(false))
            {
                yield return answer;
                slots.Release();
            }
        }
        finally
        {
            await ended.CancelAsync().ConfigureAwait(false);
            await taking.ConfigureAwait(false);
            await sending.ConfigureAwait(false);
        }
    }

    private async Task TakeAsync(
        IAsyncEnumerable<MakePaymentRequest> requests, InFlightPayments payments,
        SemaphoreSlim slots, CancellationToken cancellationToken)
    {
        try
        {
            await slots.WaitAsync(cancellationToken).ConfigureAwait(false);
            await foreach (var request in requests.WithCancellation(cancellationToken).ConfigureAwait(false))
            {
                payments.Add(request ?? throw new ArgumentException("A request is null.", nameof(requests)));
                budget.AddShare();
                await slots.WaitAsync(cancellationToken).ConfigureAwait(false);
            }
            payments.CompleteRequests(fault: null);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The enumeration of the answers has stopped.
        }
        catch (Exception e)
        {
            // Thrown to the caller after the answers to the requests that were read before.
            payments.CompleteRequests(e);
        }
    }

    private async Task KeepSendingAsync(InFlightPayments payments, CancellationToken cancellationToken)
    {
        try
        {
            while (await payments.Outbox.WaitToReadAsync(cancellationToken).ConfigureAwait(false))
            {
                await streams.Retries.ExecuteAsync(
                    static (s, token) => s.Run.StreamAsync(s.Payments, token),
                    (Run: this, Payments: payments), end: null, cancellationToken)
                    .ConfigureAwait(false);
            }
        }
        catch (RpcException e)
        {
            payments.GiveUp(e);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The enumeration of the answers has stopped.
        }
        catch (Exception e)
        {
            payments.GiveUp(new RpcException(new Status(StatusCode.Internal, e.Message, e)));
        }
    }

    /// <summary>Sends payments over one stream, to the next proxy, until all are answered or the stream breaks after at
    /// least one answer.</summary>
    /// <exception cref="RpcException">The stream broke before its first answer, or with a failure that is not retried.
    /// </exception>
    private async ValueTask<bool> StreamAsync(InFlightPayments payments, CancellationToken cancellationToken)
    {
        var before = payments.Answered;
        var isRefused = false;
        using var broken = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var options = await streams.OptionsAsync(broken.Token).ConfigureAwait(false);
        var proxy = streams.Take(ref _turn);
        using var call = proxy.Billing.MakePayments(options);
        var writing = WriteAsync(call.RequestStream, payments, broken);
        try
        {
            await ReadAsync(proxy, call.ResponseStream, payments, cancellationToken).ConfigureAwait(false);
            return payments.IsDone
                ? true
                : throw new RpcException(new Status(StatusCode.Unavailable, "The proxy ended the stream early."));
        }
        catch (RpcException e)
        {
            cancellationToken.ThrowIfCancellationRequested();
            await streams.FailedAsync(proxy, e).ConfigureAwait(false);
            // A proxy answers what it has read before it ends a stream so.
            isRefused = Outcomes.IsRefusal(e);
            if (payments.Answered == before || !(ProxyFailure.IsEndOfStream(e) || streams.Retries.Handles(e)))
            {
                throw;
            }
            return false;
        }
        finally
        {
            await broken.CancelAsync().ConfigureAwait(false);
            await writing.ConfigureAwait(false);
            payments.SendUnansweredAgain(mayBeRecorded: !isRefused);
        }
    }

    private async Task ReadAsync(
        Proxy proxy, IAsyncStreamReader<MakePaymentsResponse> answers,
        InFlightPayments payments, CancellationToken cancellationToken)
    {
        for (var first = true; await answers.MoveNext(cancellationToken).ConfigureAwait(false); first = false)
        {
            if (first)
            {
                await proxy.RecordOutcomeAsync(failure: null).ConfigureAwait(false);
            }
            if (payments.Take(answers.Current) is { } again)
            {
                _ = SendLaterAsync(again, payments, cancellationToken);
            }
        }
    }

    private async Task SendLaterAsync(
        InFlightPayment payment, InFlightPayments payments, CancellationToken cancellationToken)
    {
        try
        {
            await Task.Delay(streams.Retries.DelayAfter(payment.Failures), time, cancellationToken)
                .ConfigureAwait(false);
            payments.SendAgain(payment);
        }
        catch (OperationCanceledException)
        {
            // The enumeration of the answers has stopped.
        }
    }

    private async Task WriteAsync(
        IClientStreamWriter<MakePaymentRequest> requests, InFlightPayments payments, CancellationTokenSource broken)
    {
        try
        {
            await foreach (var payment in payments.Outbox.ReadAllAsync(broken.Token).ConfigureAwait(false))
            {
                if (payment.WasSent)
                {
                    streams.CountRetry();
                }
                payment.WasSent = true;
                requests.WriteOptions = payments.Outbox.TryPeek(out _) ? Buffered : null;
                await requests.WriteAsync(payment.Request, broken.Token).ConfigureAwait(false);
            }
            await requests.CompleteAsync().ConfigureAwait(false);
        }
        catch (Exception e) when (e is RpcException or OperationCanceledException or InvalidOperationException)
        {
            // The stream has ended; the reader gets the reason.
        }
        catch (Exception)
        {
            await broken.CancelAsync().ConfigureAwait(false);
        }
    }
}
