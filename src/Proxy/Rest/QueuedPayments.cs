using System.ComponentModel;
using System.Globalization;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Http.Extensions;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>Payments whose callers do not wait for the answer, and their status. The proxy keeps no state for them: the status
/// URL contains the payment, and the question about it goes to the backend that serves the account, after the payment. So every
/// proxy gives the same answer, even if the one that accepted the payment is gone.</summary>
internal sealed class QueuedPayments(RequestHandler handler, TimeProvider time)
{
    /// <summary>The route of a payment's status.</summary>
    public const string StatusRoute = "/v1/payments/{transaction_id}/status";

    private const string Pending = "PENDING";
    private const string RetryAfterSeconds = "1";
    private const string CurrencyCode = "amount.currency_code";
    private const string Units = "amount.units";
    private const string Nanos = "amount.nanos";
    private const string Deadline = "deadline_unix_us";

    // Long enough for an answer from a backend without lag, and short enough for a caller that polls.
    private static readonly TimeSpan StatusWait = TimeSpan.FromSeconds(1);

    /// <summary>Sends a payment, and answers 202 as soon as the transport has accepted it.</summary>
    /// <exception cref="FailureException">The payment was refused.</exception>
    public async Task<IResult> TakeAsync(MakePaymentRequest request, IncomingCall call, HttpContext http)
    {
        var taken = new TaskCompletionSource<Request>(TaskCreationOptions.RunContinuationsAsynchronously);
        var answered = handler.HandleStoredAsync(RequestKinds.Payment, request, call, command => taken.TrySetResult(command));
        await Task.WhenAny(taken.Task, answered).WaitAsync(call.Gone);
        // What fails after the payment was taken, the caller learns when it reads the status.
        var command = taken.Task.IsCompleted ? await taken.Task
            : (await answered).Failure is { } refusal ? throw new FailureException(refusal)
            : await taken.Task;
        var url = StatusUrl(request, command.DeadlineUnixUs);
        var headers = http.Response.Headers;
        http.Response.StatusCode = StatusCodes.Status202Accepted;
        headers.Location = url;
        headers["Preference-Applied"] = RestRequest.RespondAsync;
        headers.RetryAfter = RetryAfterSeconds;
        return Answer(new PaymentStatusAnswer { TransactionId = request.TransactionId, Status = Pending, StatusUrl = url });
    }

    [EndpointSummary("Reads the status of a payment")]
    [EndpointDescription("The address is in the 202 answer to the payment. Any proxy can answer it.")]
    public async Task<IResult> StatusAsync(
        [FromRoute(Name = "transaction_id"), Description("The payment's id.")] string transactionId,
        [FromQuery(Name = "account_id"), Description("The payment's account.")] string? accountId,
        [FromQuery(Name = "payment_type"), Description("The payment's type.")] string? paymentType,
        [FromQuery(Name = CurrencyCode), Description("The payment's currency.")] string? currencyCode,
        [FromQuery(Name = Units), Description("The payment's units.")] string? units,
        [FromQuery(Name = Nanos), Description("The payment's nanos.")] string? nanos,
        [FromQuery(Name = Deadline), Description("When the payment expires if it is not recorded before, in microseconds since the Unix epoch.")] string? deadline,
        HttpContext http)
    {
        var call = RestRequest.CallOf(http, time, StatusWait);
        RestRequest.CheckQuery(http, "account_id", "payment_type", CurrencyCode, Units, Nanos, Deadline);
        var payment = new MakePaymentRequest
        {
            TransactionId = transactionId,
            AccountId = accountId ?? "",
            PaymentType = RestRequest.PaymentType(paymentType),
            Amount = new Money
            {
                CurrencyCode = currencyCode ?? "",
                Units = RestRequest.Number(Units, units, 0),
                Nanos = (int)Math.Clamp(RestRequest.Number(Nanos, nanos, 0), int.MinValue, int.MaxValue),
            },
        };
        var request = new PaymentStatusRequest { Payment = payment, DeadlineUnixUs = RestRequest.Number(Deadline, deadline, 0) };
        var status = await QueryAsync(request, call);
        http.Response.Headers.CacheControl = "no-store";
        if (status.Status == Pending)
        {
            http.Response.Headers.RetryAfter = RetryAfterSeconds;
        }
        return Answer(status);
    }

    private async Task<PaymentStatusAnswer> QueryAsync(PaymentStatusRequest request, IncomingCall call)
    {
        var id = request.Payment.TransactionId;
        var outcome = await handler.HandleAsync(RequestKinds.PaymentStatus, request, call);
        return outcome.Failure?.Status == StatusCode.DeadlineExceeded
            // The question still waits behind the payment, or both wait for a backend.
            ? new PaymentStatusAnswer { TransactionId = id, Status = Pending }
            : RestAnswers.Of(id, outcome.Value);
    }

    private static string StatusUrl(MakePaymentRequest payment, long deadlineUnixUs)
    {
        var query = new QueryBuilder
        {
            { "account_id", payment.AccountId },
            { "payment_type", RestAnswers.NameOf(payment.PaymentType) },
            { CurrencyCode, payment.Amount.CurrencyCode },
            { Units, Text(payment.Amount.Units) },
            { Nanos, Text(payment.Amount.Nanos) },
            { Deadline, Text(deadlineUnixUs) },
        };
        return StatusRoute.Replace("{transaction_id}", payment.TransactionId, StringComparison.Ordinal) + query;
    }

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static JsonAnswer<PaymentStatusAnswer> Answer(PaymentStatusAnswer status) =>
        new(status, RestJson.Default.PaymentStatusAnswer);
}
