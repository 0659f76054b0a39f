using System.ComponentModel;
using System.ComponentModel.DataAnnotations;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Proxy.Rest.Description;
using Billing.V1;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Rest;

/// <summary>A payment. Its caller may prefer not to wait for the answer, but to ask for the status later.</summary>
internal sealed class PaymentRoute(RequestHandler handler, IOptions<ProxyOptions> options, TimeProvider time)
    : IRestRoute
{
    public void Map(IEndpointRouteBuilder routes) => routes.MapPut("/v1/payments/{transaction_id}", PayAsync)
        .WithName("MakePayment").Takes<PaymentBody>()
        .Produces<PaymentStatusAnswer>(StatusCodes.Status202Accepted, "application/json")
        .HasHeader(RestRequest.PreferHeader, "respond-async: answer 202 as soon as the payment is queued (RFC 7240).")
        .Answers<PaymentAnswer>(RequestKinds.Payment);

    [EndpointSummary("Charges an account")]
    [EndpointDescription(
        "A repeated transaction_id with the same content gets the same answer; with different content, 409. "
        + "With \"Prefer: respond-async\" the answer is 202 as soon as the payment is queued, and Location is the URL "
        + "of its status.")]
    public async Task<IResult> PayAsync(
        [FromRoute(Name = "transaction_id"), Description("The idempotency key: a UUID.")] string transactionId,
        HttpContext http)
    {
        var call = RestRequest.CallOf(http, time);
        RestRequest.CheckQuery(http);
        var body = await RestRequest.BodyAsync(http, RestJson.Default.PaymentBody, options.Value.RequestBytesMax);
        var request = new MakePaymentRequest
        {
            TransactionId = transactionId,
            AccountId = body.AccountId ?? "",
            PaymentType = RestRequest.PaymentType(body.PaymentType),
            Amount = body.Amount.ToMoney(),
            Notes = body.Notes.ToMessage(),
        };
        if (handler.StoresCommands && RestRequest.PrefersAsync(http))
        {
            return await TakeAsync(request, call, http);
        }
        var answer = (await handler.HandleAsync(RequestKinds.Payment, request, call)).Value;
        return new JsonAnswer<PaymentAnswer>(PaymentAnswer.Of(answer), RestJson.Default.PaymentAnswer);
    }

    // Sends the payment, and answers 202 as soon as the transport has accepted it. What fails after that, the caller
    // learns when it reads the status.
    private async Task<IResult> TakeAsync(MakePaymentRequest request, IncomingCall call, HttpContext http)
    {
        var taken = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        _ = AnswerAsync();
        var partition = await taken.Task.WaitAsync(call.Gone);
        http.Response.StatusCode = StatusCodes.Status202Accepted;
        http.Response.Headers["Preference-Applied"] = RestRequest.RespondAsync;
        return PaymentStatusRoute.Taken(request, partition, http.Response);

        async Task AnswerAsync()
        {
            try
            {
                _ = (await handler.HandleStoredAsync(
                    RequestKinds.Payment, request, call, partition => taken.TrySetResult(partition))).Value;
                // The answer may come before the confirmation. What is recorded is found on every partition.
                taken.TrySetResult(0);
            }
            catch (Exception e)
            {
                taken.TrySetException(e);
            }
        }
    }
}

/// <summary>The body of a payment.</summary>
internal sealed class PaymentBody
{
    /// <summary>The account: 1 to 64 of the characters A-Z a-z 0-9 . _ -</summary>
    [Required]
    public string? AccountId { get; set; }

    /// <summary>The card network: VISA, MASTERCARD, DISCOVER or AMEX, in any case.</summary>
    [Required]
    public string? PaymentType { get; set; }

    /// <summary>The amount to charge: more than zero and at most 1,000,000,000 units.</summary>
    [Required]
    public AmountJson? Amount { get; set; }

    /// <summary>What you keep with it, to match it with records of your own; a repeated request
    /// has to repeat it.</summary>
    public NotesJson? Notes { get; set; }
}

/// <summary>The answer to a payment. A declined payment is an answer, not an error.</summary>
internal sealed class PaymentAnswer
{
    /// <summary>The payment's id.</summary>
    public required string TransactionId { get; init; }

    /// <summary>ACCEPTED or DECLINED.</summary>
    public required string Outcome { get; init; }

    /// <summary>If declined, the reason: CREDIT_LIMIT_EXCEEDED or CURRENCY_MISMATCH.</summary>
    public string? DeclineReason { get; init; }

    /// <summary>Why it was declined, for a person.</summary>
    public string? Message { get; init; }

    /// <summary>What the account owes after the payment.</summary>
    public required MoneyJson Balance { get; init; }

    /// <summary>What is on hold on the account, which this does not change.</summary>
    public required MoneyJson OnHold { get; init; }

    /// <summary>When it was decided.</summary>
    public required DateTime DecideTime { get; init; }

    /// <summary>The version of the account that records the payment; pass it as min_version to
    /// read your own write.</summary>
    public required long Version { get; init; }

    /// <summary>Whether it had been recorded before this request was processed: its caller or the
    /// platform sent it again.</summary>
    public required bool Replayed { get; init; }

    public static PaymentAnswer Of(MakePaymentResponse response) => new()
    {
        TransactionId = response.TransactionId,
        Outcome = Names.Of(response.Outcome),
        DeclineReason = Names.Of(response.DeclineReason),
        Message = response.Message.OrNull(),
        Balance = response.Balance.Needed().ToJson(),
        OnHold = response.OnHold.Needed().ToJson(),
        DecideTime = response.DecideTime.Needed().ToJson(),
        Version = response.Version,
        Replayed = response.Replayed,
    };
}
