using System.Globalization;
using System.Runtime.CompilerServices;
using Billing.Client;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Grpc.Core;

namespace Billing.Driver.Channels;

/// <summary>The calls of the SDK with the messages of billing.proto: with its retries and circuits,
/// and gRPC's own failures.</summary>
public static class BillingMessages
{
    /// <summary>Charges an account.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<MakePaymentResponse> MakePaymentAsync(
        this BillingClient client, MakePaymentRequest request, CancellationToken cancellationToken = default) =>
        Of(client).MakePaymentAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Charges an account, and returns the time of each processing step. If the call was retried, it was sent
    /// when the first attempt was, and the other times are those of the attempt that was answered.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static async Task<TimedPayment> MakeTimedPaymentAsync(
        this BillingClient client, MakePaymentRequest request, TimeProvider? time = null)
    {
        time ??= TimeProvider.System;
        var headers =
            new Metadata { { RequestHeaders.SentAt, time.Microseconds().ToString(CultureInfo.InvariantCulture) } };
        using var call = Of(client).MakePaymentAsync(request, headers);
        var answer = await call;
        var returned = time.GetUtcNow();
        return StepTimes.TryParse(call.GetTrailers().GetValue(Trailers.Times), out var times)
            ? new TimedPayment(answer, times with { Returned = returned })
            : throw new InvalidDataException($"An answer has no times in its trailer {Trailers.Times}.");
    }

    /// <summary>Charges many accounts over one stream at a time. At most
    /// <see cref="BillingClientOptions.StreamWindow"/> payments are in flight, and as many
    /// wait for their turn.</summary>
    /// <exception cref="RpcException">No proxy accepts the stream.</exception>
    public static async IAsyncEnumerable<MakePaymentsResponse> MakePaymentsAsync(
        this BillingClient client, IAsyncEnumerable<MakePaymentRequest> requests,
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        using var call = Of(client).MakePayments(cancellationToken: cancellationToken);
        var writing = WriteAsync();
        try
        {
            await foreach (var answer in call.ResponseStream.ReadAllAsync(cancellationToken))
            {
                yield return answer;
            }
        }
        finally
        {
            await ended.CancelAsync();
            await writing;
        }

        async Task WriteAsync()
        {
            try
            {
                await foreach (var request in requests.WithCancellation(ended.Token))
                {
                    await call.RequestStream.WriteAsync(request, ended.Token);
                }
                await call.RequestStream.CompleteAsync();
            }
            catch (Exception e) when (e is OperationCanceledException or InvalidOperationException)
            {
                // The answers have ended, and say why.
            }
            catch (Exception)
            {
                await call.RequestStream.CompleteAsync();
                throw;
            }
        }
    }

    /// <summary>Puts an amount on hold.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<AuthorisePaymentResponse> AuthorisePaymentAsync(
        this BillingClient client, AuthorisePaymentRequest request, CancellationToken cancellationToken = default) =>
        Of(client).AuthorisePaymentAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Charges what is on hold.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<CapturePaymentResponse> CapturePaymentAsync(
        this BillingClient client, CapturePaymentRequest request, CancellationToken cancellationToken = default) =>
        Of(client).CapturePaymentAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Releases what is on hold.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<VoidPaymentResponse> VoidPaymentAsync(
        this BillingClient client, VoidPaymentRequest request, CancellationToken cancellationToken = default) =>
        Of(client).VoidPaymentAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Gives a payment back.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<RefundPaymentResponse> RefundPaymentAsync(
        this BillingClient client, RefundPaymentRequest request, CancellationToken cancellationToken = default) =>
        Of(client).RefundPaymentAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Finds what is recorded of a request.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<GetTransactionResponse> GetTransactionAsync(
        this BillingClient client, GetTransactionRequest request, CancellationToken cancellationToken = default) =>
        Of(client).GetTransactionAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Reads a balance.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<CheckBalanceResponse> CheckBalanceAsync(
        this BillingClient client, CheckBalanceRequest request, CancellationToken cancellationToken = default) =>
        Of(client).CheckBalanceAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Reads a balance as it was.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<GetBalanceAtResponse> GetBalanceAtAsync(
        this BillingClient client, GetBalanceAtRequest request, CancellationToken cancellationToken = default) =>
        Of(client).GetBalanceAtAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Reads a statement, page after page.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static async IAsyncEnumerable<ListStatementResponse> StreamStatementAsync(
        this BillingClient client, ListStatementRequest request,
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        using var call = Of(client).StreamStatement(request, cancellationToken: cancellationToken);
        await foreach (var page in call.ResponseStream.ReadAllAsync(cancellationToken))
        {
            yield return page;
        }
    }

    /// <summary>Reads a page of a statement.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<ListStatementResponse> ListStatementAsync(
        this BillingClient client, ListStatementRequest request, CancellationToken cancellationToken = default) =>
        Of(client).ListStatementAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Sets a credit limit.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<SetCreditLimitResponse> SetCreditLimitAsync(
        this BillingAdminClient client, SetCreditLimitRequest request, CancellationToken cancellationToken = default) =>
        Of(client).SetCreditLimitAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Sets the status of an account.</summary>
    /// <exception cref="RpcException">The call failed.</exception>
    public static Task<SetAccountStatusResponse> SetAccountStatusAsync(
        this BillingAdminClient client, SetAccountStatusRequest request,
        CancellationToken cancellationToken = default) =>
        Of(client).SetAccountStatusAsync(request, cancellationToken: cancellationToken).ResponseAsync;

    /// <summary>Whether an answer to a change says that it had been recorded before.</summary>
    public static bool IsReplay(this IMessage answer) => (bool)ReplayedOf(answer).GetValue(answer);

    /// <summary>The answer to a change as it comes when its request is sent again.</summary>
    public static T AsReplay<T>(this T answer)
        where T : IMessage
    {
        var again = (T)answer.Descriptor.Parser.ParseFrom(answer.ToByteArray());
        ReplayedOf(again).SetValue(again, true);
        return again;
    }

    private static IFieldAccessor ReplayedOf(IMessage answer) => answer.Descriptor.FindFieldByName("replayed").Accessor;

    private static BillingService.BillingServiceClient Of(BillingClient client) => new(client.CallInvoker);

    private static BillingAdminService.BillingAdminServiceClient Of(BillingAdminClient client) =>
        new(client.CallInvoker);
}

/// <summary>The answer to a timed payment.</summary>
/// <param name="Answer">Accepted or declined.</param>
/// <param name="Times">The times of the processing steps.</param>
public sealed record TimedPayment(MakePaymentResponse Answer, StepTimes Times);
