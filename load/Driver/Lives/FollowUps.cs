using Billing.Client;
using Billing.Contracts;
using Billing.Driver.Channels;
using Billing.Journals;
using Billing.V1;
using Grpc.Core;

namespace Billing.Driver.Lives;

/// <summary>The requests for what is done with a payment after it is made, or instead of making it at once.</summary>
public static class FollowUps
{
    /// <summary>Authorisations, as they are named in results.</summary>
    public const string Authorisations = "authorisations";

    /// <summary>Captures, as they are named in results.</summary>
    public const string Captures = "captures";

    /// <summary>Voids, as they are named in results.</summary>
    public const string Voids = "voids";

    /// <summary>Refunds, as they are named in results.</summary>
    public const string Refunds = "refunds";

    /// <summary>Look-ups, as they are named in results.</summary>
    public const string LookUps = "look_ups";

    /// <summary>All names, in the order in which they are shown.</summary>
    public static IReadOnlyList<string> All { get; } = [Authorisations, Captures, Voids, Refunds, LookUps];

    /// <summary>Puts the amount of a payment on hold, under its id, instead of charging it.</summary>
    public static AuthorisePaymentRequest Authorisation(this MakePaymentRequest payment, int holdSeconds = 0) => new()
    {
        TransactionId = payment.TransactionId,
        AccountId = payment.AccountId,
        PaymentType = payment.PaymentType,
        Amount = payment.Amount,
        HoldDuration = new() { Seconds = holdSeconds },
        Notes = payment.Notes,
    };

    /// <summary>Charges an amount of a payment on hold.</summary>
    public static CapturePaymentRequest Capture(
        this MakePaymentRequest payment, Money amount, bool isFinal = false) => new()
        {
            TransactionId = Guid.CreateVersion7().ToString(),
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
            PaymentId = payment.TransactionId,
            Amount = amount,
            IsFinal = isFinal,
            Notes = payment.Notes,
        };

    /// <summary>Releases what of a payment is on hold.</summary>
    public static VoidPaymentRequest Voiding(this MakePaymentRequest payment) => new()
    {
        TransactionId = Guid.CreateVersion7().ToString(),
        AccountId = payment.AccountId,
        PaymentType = payment.PaymentType,
        PaymentId = payment.TransactionId,
    };

    /// <summary>Gives an amount of a payment back.</summary>
    public static RefundPaymentRequest Refund(this MakePaymentRequest payment, Money amount) => new()
    {
        TransactionId = Guid.CreateVersion7().ToString(),
        AccountId = payment.AccountId,
        PaymentType = payment.PaymentType,
        PaymentId = payment.TransactionId,
        Amount = amount,
        Notes = payment.Notes,
    };

    /// <summary>Asks what has become of a payment.</summary>
    public static GetTransactionRequest LookUp(this MakePaymentRequest payment) =>
        new()
        {
            TransactionId = payment.TransactionId,
            AccountId = payment.AccountId,
            PaymentType = payment.PaymentType,
        };

    /// <summary>Sends an authorisation.</summary>
    /// <exception cref="RpcException">It has no answer.</exception>
    public static Task<FollowUpAnswer> SendAsync(
        this BillingClient client, AuthorisePaymentRequest request, CancellationToken cancellationToken) => AnswerAsync(
        client.AuthorisePaymentAsync(request, cancellationToken),
        answer =>
            new FollowUpAnswer(answer, 0, answer.Balance, answer.Version, answer.Outcome == PaymentOutcome.Declined));

    /// <summary>Sends a capture.</summary>
    /// <exception cref="RpcException">It has no answer.</exception>
    public static Task<FollowUpAnswer> SendAsync(
        this BillingClient client, CapturePaymentRequest request, CancellationToken cancellationToken) => AnswerAsync(
        client.CapturePaymentAsync(request, cancellationToken),
        answer => new FollowUpAnswer(answer, WireAmount.Of(answer.Amount) ?? 0, answer.Balance, answer.Version));

    /// <summary>Sends a void.</summary>
    /// <exception cref="RpcException">It has no answer.</exception>
    public static Task<FollowUpAnswer> SendAsync(
        this BillingClient client, VoidPaymentRequest request, CancellationToken cancellationToken) => AnswerAsync(
        client.VoidPaymentAsync(request, cancellationToken),
        answer => new FollowUpAnswer(answer, 0, answer.Balance, answer.Version));

    /// <summary>Sends a refund.</summary>
    /// <exception cref="RpcException">It has no answer.</exception>
    public static Task<FollowUpAnswer> SendAsync(
        this BillingClient client, RefundPaymentRequest request, CancellationToken cancellationToken) => AnswerAsync(
        client.RefundPaymentAsync(request, cancellationToken),
        answer => new FollowUpAnswer(answer, WireAmount.Of(answer.Amount) ?? 0, answer.Balance, answer.Version));

    private static async Task<FollowUpAnswer> AnswerAsync<T>(Task<T> call, Func<T, FollowUpAnswer> read)
    {
        try
        {
            return read(await call);
        }
        catch (RpcException e) when (BillingClient.Reason(e) is ErrorReasons.NotOnHold or ErrorReasons.AmountTooLarge)
        {
            return FollowUpAnswer.Refusal;
        }
    }
}
