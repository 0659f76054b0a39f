using System.Globalization;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.UnitTests.Testing;

/// <summary>Valid requests and commands, which a test may make invalid.</summary>
internal static class Samples
{
    public const string TransactionId = "01234567-89ab-cdef-0123-456789abcdef";
    public const string ReplyTopic = "billing.replies.20260131T120000Z-5f2c9a10";

    public static Money Dollars(long units, int nanos = 0) =>
        new() { CurrencyCode = "USD", Units = units, Nanos = nanos };

    public static MakePaymentRequest Payment(string accountId = "acct-42", long units = 10) => new()
    {
        TransactionId = TransactionId,
        AccountId = accountId,
        PaymentType = PaymentType.Visa,
        Amount = Dollars(units),
    };

    public static CheckBalanceRequest Balance(string accountId = "acct-42") =>
        new() { AccountId = accountId, PaymentType = PaymentType.Visa };

    public static Request PaymentRequest(string accountId = "acct-42", long units = 10) =>
        Request.Of(PaymentCommand(accountId, units));

    public static Command PaymentCommand(
        string accountId = "acct-42", long units = 10, ulong correlationId = 0) => new()
        {
            CorrelationId = correlationId,
            TransactionId = TransactionId,
            ProxyTopic = ReplyTopic,
            Payment = Payment(accountId, units),
        };

    /// <summary>The notes that take the most memory beside their record: texts of characters of one byte take two
    /// bytes each.</summary>
    public static PaymentNotes LargestNotes() => new()
    {
        Reference = new string('r', FieldRules.NoteLengthMax),
        Metadata =
        {
            Enumerable.Range(0, FieldRules.MetadataPairsMax).ToDictionary(
                pair => pair.ToString($"D{FieldRules.MetadataNameLengthMax}", CultureInfo.InvariantCulture),
                _ => new string('v', FieldRules.NoteLengthMax)),
        },
    };

    /// <summary>A refund of a payment.</summary>
    public static Command RefundCommand(Command payment, decimal amount)
    {
        var id = Guid.NewGuid().ToString();
        return new()
        {
            TransactionId = id,
            ProxyTopic = ReplyTopic,
            Refund = new RefundPaymentRequest
            {
                TransactionId = id,
                AccountId = payment.Payment.AccountId,
                PaymentType = payment.Payment.PaymentType,
                PaymentId = payment.TransactionId,
                Amount = amount.ToMoney(payment.Payment.Amount.CurrencyCode),
            },
        };
    }

    /// <summary>The question what has become of a payment.</summary>
    public static PaymentStatusRequest Question(MakePaymentRequest payment) => new()
    {
        TransactionId = payment.TransactionId,
        AccountId = payment.AccountId,
        PaymentType = payment.PaymentType,
        Fingerprint = ByteString.CopyFrom(PaymentFingerprint.Of(payment.Amount, payment.Notes)),
    };

    public static Command BalanceCommand(string accountId = "acct-42") => new()
    {
        TransactionId = TransactionId,
        ProxyTopic = ReplyTopic,
        Balance = Balance(accountId),
    };
}
