using System.ComponentModel;
using System.ComponentModel.DataAnnotations;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Rest.Description;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>The status of a payment whose caller did not wait for the answer. The proxy keeps no state for it: the
/// link says what the payment was, and the question goes to the partition that holds the payment, so it is answered
/// after the payment. So every proxy gives the same answer, even if the one that accepted the payment is gone.
/// Asking changes nothing.</summary>
internal sealed class PaymentStatusRoute(RequestHandler handler, TimeProvider time) : IRestRoute
{
    private const string Pattern = "/v1/payments/{transaction_id}/status";
    private const string Link = "link";
    private const string Pending = "PENDING";
    private const string RetryAfterSeconds = "1";

    // Long enough for an answer from a backend without lag, and short enough for a caller that polls.
    private static readonly TimeSpan StatusWait = TimeSpan.FromSeconds(1);

    public void Map(IEndpointRouteBuilder routes) => routes.MapGet(Pattern, StatusAsync)
        .WithName("GetPaymentStatus").Fails(404)
        .AnswersHeader(
            200, "Retry-After",
            "If the payment is pending: how many seconds to wait before the status is asked for again.")
        .Answers<PaymentStatusAnswer>(RequestKinds.PaymentStatus);

    /// <summary>The answer to a payment that was taken, with the URL of its status.</summary>
    public static IResult Taken(MakePaymentRequest payment, int partition, HttpResponse response)
    {
        var url = Pattern.Replace("{transaction_id}", payment.TransactionId, StringComparison.Ordinal)
            + QueryString.Create(Link, StatusLink.Of(payment, partition));
        response.Headers.Location = url;
        return Answer(
            new PaymentStatusAnswer { TransactionId = payment.TransactionId, Status = Pending, StatusUrl = url },
            response);
    }

    [EndpointSummary("Reads the status of a payment that was queued")]
    [EndpointDescription(
        "The address is in the 202 answer to the payment, and is used as it is. Any proxy can answer it. "
            + "Asking changes nothing. "
        + "409 if another request is recorded under the transaction_id. "
        + "404 if the payment is neither recorded nor under way: "
        + "it was lost, or is kept for the operators.")]
    public async Task<IResult> StatusAsync(
        [FromRoute(Name = "transaction_id"), Description("The payment's id.")] string transactionId,
        [FromQuery(Name = Link), Required, Description("As the address has it.")] string? link,
        HttpContext http)
    {
        var call = RestRequest.CallOf(http, time, StatusWait);
        RestRequest.CheckQuery(http, Link);
        if (!StatusLink.TryRead(transactionId, link ?? "", out var question))
        {
            throw new FailureException(Failure.BadField(NotOf(transactionId)));
        }
        var outcome = await handler.HandleAsync(
            RequestKinds.PaymentStatus, question, call with { Partition = question.Partition });
        return Answer(
            outcome.Failure?.Status == StatusCode.DeadlineExceeded
                // The question still waits behind the payment, or both wait for a backend.
                ? new PaymentStatusAnswer { TransactionId = transactionId, Status = Pending }
                : PaymentStatusAnswer.Of(transactionId, outcome.Value),
            http.Response);
    }

    // No link is one of what is no id.
    private static FieldViolation NotOf(string transactionId) =>
        RequestKinds.PaymentStatus.Check(
            new PaymentStatusRequest { TransactionId = transactionId }) is { Field: "transaction_id" } violation
            ? violation
            : new FieldViolation(Link, "must be as in the Location of the answer to this payment");

    private static JsonAnswer<PaymentStatusAnswer> Answer(PaymentStatusAnswer status, HttpResponse response)
    {
        if (status.Status == Pending)
        {
            response.Headers.RetryAfter = RetryAfterSeconds;
        }
        return new(status, RestJson.Default.PaymentStatusAnswer);
    }
}

/// <summary>The status of a payment.</summary>
internal sealed class PaymentStatusAnswer
{
    /// <summary>The payment's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>PENDING, ACCEPTED, DECLINED or FAILED. All but PENDING are final. A payment that failed charged
    /// nothing, and never will: its id is closed, and a new payment needs another one.</summary>
    public required string Status { get; init; }

    /// <summary>The URL of the payment's status; only in the 202 answer to the payment.</summary>
    public string? StatusUrl { get; init; }

    /// <summary>If declined, the reason: CREDIT_LIMIT_EXCEEDED or CURRENCY_MISMATCH.</summary>
    public string? DeclineReason { get; init; }

    /// <summary>Why it was declined or failed, for a person.</summary>
    public string? Message { get; init; }

    /// <summary>What the account owes after the payment, if accepted or declined.</summary>
    public MoneyJson? Balance { get; init; }

    /// <summary>What is on hold on the account, which this does not change, if accepted or declined.</summary>
    public MoneyJson? OnHold { get; init; }

    /// <summary>When it was decided, if accepted or declined.</summary>
    public DateTime? DecideTime { get; init; }

    /// <summary>The version of the account that records the payment, if accepted or declined.</summary>
    public long? Version { get; init; }

    /// <summary>If failed, the constant for programs: COMMAND_EXPIRED, since nobody could execute the payment
    /// before its deadline.</summary>
    public string? Reason { get; init; }

    public static PaymentStatusAnswer Of(string transactionId, PaymentStatus status) => status.Payment is { } payment
        ? new PaymentStatusAnswer
        {
            TransactionId = transactionId,
            Status = Names.Of(payment.Outcome),
            DeclineReason = Names.Of(payment.DeclineReason),
            Message = payment.Message.OrNull(),
            Balance = payment.Balance.ToJson(),
            OnHold = payment.OnHold.ToJson(),
            DecideTime = payment.DecideTime.ToJsonOrNull(),
            Version = payment.Version,
        }
        : new PaymentStatusAnswer
        {
            TransactionId = transactionId,
            Status = "FAILED",
            Message = (status.Error?.Message ?? "").OrNull(),
            Reason = status.Error?.Reason ?? ErrorReasons.ProcessingFailed,
        };
}
