using System.ComponentModel;
using System.Globalization;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Proxy.Security;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using Microsoft.AspNetCore.Http.Extensions;
using Microsoft.AspNetCore.Mvc;

namespace Billing.Proxy.Rest;

/// <summary>The status of a payment whose caller did not wait for the answer. The proxy keeps no state for it: the status URL contains
/// the payment, and the question about it goes to the backend that serves the account, after the payment. So every proxy gives the
/// same answer, even if the one that accepted the payment is gone.</summary>
internal sealed class PaymentStatusRoute(RequestHandler handler, TimeProvider time) : IRestRoute
{
    private const string Pattern = "/v1/payments/{transaction_id}/status";
    private const string Pending = "PENDING";
    private const string RetryAfterSeconds = "1";
    private const string CurrencyCode = "amount.currency_code";
    private const string Units = "amount.units";
    private const string Nanos = "amount.nanos";
    private const string Deadline = "deadline_unix_us";

    // Long enough for an answer from a backend without lag, and short enough for a caller that polls.
    private static readonly TimeSpan StatusWait = TimeSpan.FromSeconds(1);

    public void Map(IEndpointRouteBuilder routes) => routes.MapGet(Pattern, StatusAsync)
        .WithName("GetPaymentStatus").HasNumbers(Units, Nanos, Deadline).Answers<PaymentStatusAnswer>(Scopes.PaymentsWrite);

    /// <summary>The answer to a payment that was taken, with the URL of its status.</summary>
    public static IResult Taken(MakePaymentRequest payment, long deadlineUnixUs, HttpResponse response)
    {
        var url = Pattern.Replace("{transaction_id}", payment.TransactionId, StringComparison.Ordinal) + new QueryBuilder
        {
            { "account_id", payment.AccountId },
            { "payment_type", Names.Of(payment.PaymentType) },
            { CurrencyCode, payment.Amount.CurrencyCode },
            { Units, payment.Amount.Units.ToString(CultureInfo.InvariantCulture) },
            { Nanos, payment.Amount.Nanos.ToString(CultureInfo.InvariantCulture) },
            { Deadline, deadlineUnixUs.ToString(CultureInfo.InvariantCulture) },
        };
        response.Headers.Location = url;
        return Answer(new PaymentStatusAnswer { TransactionId = payment.TransactionId, Status = Pending, StatusUrl = url }, response);
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
        var outcome = await handler.HandleAsync(RequestKinds.PaymentStatus, request, call);
        http.Response.Headers.CacheControl = "no-store";
        return Answer(
            outcome.Failure?.Status == StatusCode.DeadlineExceeded
                // The question still waits behind the payment, or both wait for a backend.
                ? new PaymentStatusAnswer { TransactionId = transactionId, Status = Pending }
                : PaymentStatusAnswer.Of(transactionId, outcome.Value),
            http.Response);
    }

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

    /// <summary>PENDING, ACCEPTED, DECLINED or FAILED. All but PENDING are final for the request that was sent; a failed payment
    /// charged nothing, and may be sent again.</summary>
    public required string Status { get; init; }

    /// <summary>The URL of the payment's status; only in the 202 answer to the payment.</summary>
    public string? StatusUrl { get; init; }

    /// <summary>If declined, the reason: CREDIT_LIMIT_EXCEEDED or CURRENCY_MISMATCH.</summary>
    public string? DeclineReason { get; init; }

    /// <summary>Why it was declined or failed, for a person.</summary>
    public string? Message { get; init; }

    /// <summary>What the account owes after the payment, if accepted or declined.</summary>
    public MoneyJson? Balance { get; init; }

    /// <summary>The version of the account that records the payment, if accepted or declined.</summary>
    public long? Version { get; init; }

    /// <summary>If failed, the constant for programs, e.g. COMMAND_EXPIRED.</summary>
    public string? Reason { get; init; }

    public static PaymentStatusAnswer Of(string transactionId, PaymentStatus status) => status.Payment is { } payment
        ? new PaymentStatusAnswer
        {
            TransactionId = transactionId,
            Status = Names.Of(payment.Outcome),
            DeclineReason = Names.Of(payment.DeclineReason),
            Message = payment.Message.OrNull(),
            Balance = payment.Balance.ToJson(),
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
