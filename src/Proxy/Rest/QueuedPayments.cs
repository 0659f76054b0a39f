using System.ComponentModel;
using System.Globalization;
using Billing.Contracts;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Http.Extensions;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>Payments whose callers do not wait for the answer, and their status. The proxy keeps no state for them: the status
/// URL contains the payment, and the question about it goes to the backend that serves the account, after the payment. So every
/// proxy gives the same answer, even if the one that accepted the payment is gone.</summary>
internal sealed class QueuedPayments(CommandSender sender, Admission admission, TimeProvider time)
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
    /// <exception cref="RpcException">The payment was refused.</exception>
    public async Task<IResult> TakeAsync(MakePaymentRequest request, CallerDeadline callerDeadline, HttpContext http)
    {
        var taken = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var command = new Command { TransactionId = request.TransactionId, Payment = request };
        var answered = AnswerAsync(command, Caller.Of(http), callerDeadline, taken);
        // Waits for the first of the two; rethrows the error if the payment was refused.
        await (await Task.WhenAny(taken.Task, answered)).WaitAsync(http.RequestAborted);
        var url = StatusUrl(command);
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
        var callerDeadline = new CallerDeadline(time.GetTimestamp(), RestRequest.Timeout(http) ?? StatusWait);
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
        sender.Check(payment, FieldRules.Check(payment));
        var request = new PaymentStatusRequest { Payment = payment, DeadlineUnixUs = RestRequest.Number(Deadline, deadline, 0) };
        var status = await QueryAsync(request, Caller.Of(http), callerDeadline, http.RequestAborted);
        http.Response.Headers.CacheControl = "no-store";
        if (status.Status == Pending)
        {
            http.Response.Headers.RetryAfter = RetryAfterSeconds;
        }
        return Answer(status);
    }

    private async Task AnswerAsync(Command command, Caller caller, CallerDeadline callerDeadline, TaskCompletionSource taken)
    {
        try
        {
            // The place is held until the answer comes, so the same limit applies to payments that nobody waits for.
            using var admitted = admission.Enter(caller, command.Payment.AccountId);
            await sender.SendQueuedAsync(command, callerDeadline, () => taken.TrySetResult());
        }
        catch (RpcException) when (taken.Task.IsCompleted)
        {
            // The caller learns of the error when it reads the status.
        }
    }

    private async Task<PaymentStatusAnswer> QueryAsync(
        PaymentStatusRequest request, Caller caller, CallerDeadline callerDeadline, CancellationToken callerGone)
    {
        var id = request.Payment.TransactionId;
        using var admitted = admission.Enter(caller, request.Payment.AccountId);
        try
        {
            var reply = await sender.SendAsync(
                new Command { TransactionId = id, PaymentStatus = request }, callerDeadline, admitted, callerGone);
            return RestAnswers.Of(id, reply.PaymentStatus ?? throw Failure.OtherReply(reply));
        }
        catch (RpcException e) when (e.StatusCode == StatusCode.DeadlineExceeded)
        {
            // The question still waits behind the payment, or both wait for a backend.
            return new PaymentStatusAnswer { TransactionId = id, Status = Pending };
        }
    }

    private static string StatusUrl(Command command)
    {
        var payment = command.Payment;
        var query = new QueryBuilder
        {
            { "account_id", payment.AccountId },
            { "payment_type", RestAnswers.NameOf(payment.PaymentType) },
            { CurrencyCode, payment.Amount.CurrencyCode },
            { Units, Text(payment.Amount.Units) },
            { Nanos, Text(payment.Amount.Nanos) },
            { Deadline, Text(command.DeadlineUnixUs) },
        };
        return StatusRoute.Replace("{transaction_id}", payment.TransactionId, StringComparison.Ordinal) + query;
    }

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static JsonAnswer<PaymentStatusAnswer> Answer(PaymentStatusAnswer status) =>
        new(status, RestJson.Default.PaymentStatusAnswer);
}
