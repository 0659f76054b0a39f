using System.Text.Json.Serialization;
using Billing.V1;

namespace Billing.Measuring.Experiments.Echo;

/// <summary>The payment that every call sends and the answer to it.</summary>
internal static class EchoMessages
{
    /// <summary>Creates a typical payment, as large as a real one.</summary>
    public static MakePaymentRequest Request(int caller) => new()
    {
        TransactionId = new Guid(caller, 0x1234, 0x5678, 1, 2, 3, 4, 5, 6, 7, 8).ToString(),
        AccountId = "acct-004217",
        PaymentType = PaymentType.Visa,
        Amount = new Money { CurrencyCode = "USD", Units = 1 + caller, Nanos = 990_000_000 },
    };

    /// <summary>Creates the answer, which repeats the values of the request.</summary>
    public static MakePaymentResponse Answer(MakePaymentRequest request) => new()
    {
        TransactionId = request.TransactionId,
        Outcome = PaymentOutcome.Accepted,
        Balance = request.Amount,
        Version = request.Amount.Units,
    };

    /// <summary>Whether an answer belongs to a payment.</summary>
    public static bool IsAnswer(MakePaymentRequest request, MakePaymentResponse answer) =>
        answer.Version == request.Amount.Units && answer.TransactionId == request.TransactionId;
}

/// <summary>The payment as JSON.</summary>
internal sealed record EchoJsonRequest(
    string TransactionId, string AccountId, string PaymentType, EchoJsonMoney Amount);

/// <summary>An amount as JSON.</summary>
internal sealed record EchoJsonMoney(string CurrencyCode, long Units, int Nanos);

/// <summary>The answer as JSON.</summary>
internal sealed record EchoJsonReply(string TransactionId, string Outcome, EchoJsonMoney Balance, long Version);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(EchoJsonRequest))]
[JsonSerializable(typeof(EchoJsonReply))]
internal sealed partial class EchoJson : JsonSerializerContext;
