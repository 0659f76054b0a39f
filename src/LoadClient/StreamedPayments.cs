using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Billing.Client;
using Billing.V1;
using Grpc.Core;

namespace Billing.LoadClient;

/// <summary>Sends payments over streams and measures each, from when its stream takes it until its answer arrives.</summary>
/// <param name="client">The client.</param>
/// <param name="meter">Receives the measurements.</param>
/// <param name="note">Called with each payment and its answer; null if there was no answer.</param>
/// <param name="time">The clock.</param>
internal sealed class StreamedPayments(
    BillingClient client, RequestMeter meter, Action<MakePaymentRequest, MakePaymentResponse?> note, TimeProvider time)
{
    /// <summary>Distributes the payments over the streams and waits for every answer.</summary>
    public Task SendAsync(IReadOnlyList<MakePaymentRequest> payments, int streams, CancellationToken cancellationToken) =>
        Task.WhenAll(Enumerable.Range(0, streams).Select(stream =>
            SendAsync([.. payments.Where((_, i) => i % streams == stream)], cancellationToken)));

    private async Task SendAsync(MakePaymentRequest[] payments, CancellationToken cancellationToken)
    {
        var unanswered = payments.ToDictionary(payment => payment.TransactionId, StringComparer.Ordinal);
        var started = new ConcurrentDictionary<string, long>(StringComparer.Ordinal);
        try
        {
            var requests = StartingEachAsync(payments, started, cancellationToken);
            await foreach (var answer in client.MakePaymentsAsync(requests, cancellationToken))
            {
                if (unanswered.Remove(answer.TransactionId, out var payment))
                {
                    Record(payment, answer, started[answer.TransactionId]);
                }
            }
        }
        catch (RpcException e)
        {
            foreach (var payment in unanswered.Values)
            {
                meter.Failed(e);
                note(payment, null);
            }
        }
    }

    private void Record(MakePaymentRequest payment, MakePaymentResponse answer, long start)
    {
        if (answer.Outcome == PaymentOutcome.Failed)
        {
            meter.Failed(new RpcException(new Status((StatusCode)answer.Error.StatusCode, answer.Error.Message)));
            note(payment, null);
        }
        else
        {
            meter.Answered(start, answer.Outcome == PaymentOutcome.Declined);
            note(payment, answer);
        }
    }

    private async IAsyncEnumerable<MakePaymentRequest> StartingEachAsync(
        MakePaymentRequest[] payments, ConcurrentDictionary<string, long> started, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (var payment in payments)
        {
            cancellationToken.ThrowIfCancellationRequested();
            started[payment.TransactionId] = time.GetTimestamp();
            yield return payment;
        }
        await Task.CompletedTask;
    }
}
