using System.Buffers.Binary;
using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using System.Text;
using Billing.Messaging.Requests;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.Proxy.Calls;

/// <summary>The link to the status of a payment that was queued: what it takes to ask about that payment, with a digest
/// of it and of the payment's id. So no proxy keeps anything for it, and a link to another payment is refused, as is
/// one that was altered. The digest is no secret: whoever makes a link by hand may ask what it asks, if the account is
/// his, and asking changes nothing.</summary>
internal static class StatusLink
{
    private const int PartitionAt = 1;
    private const int FingerprintAt = PartitionAt + sizeof(int);
    private const int AccountAt = FingerprintAt + PaymentFingerprint.Bytes;
    private const int DigestBytes = 16;

    // Another one for links that mean something else.
    private static readonly byte[] Meaning = Encoding.ASCII.GetBytes("billing.v1.PaymentStatus");

    /// <summary>The link of a payment that a partition holds.</summary>
    public static string Of(MakePaymentRequest payment, int partition)
    {
        var link = new byte[AccountAt + payment.AccountId.Length + DigestBytes];
        link[0] = (byte)payment.PaymentType;
        BinaryPrimitives.WriteInt32BigEndian(link.AsSpan(PartitionAt), partition);
        PaymentFingerprint.Of(payment.Amount, payment.Notes).CopyTo(link, FingerprintAt);
        Encoding.ASCII.GetBytes(payment.AccountId, link.AsSpan(AccountAt));
        Digest(Guid.Parse(payment.TransactionId), link.AsSpan(..^DigestBytes), link.AsSpan(^DigestBytes..));
        return Base64Url.EncodeToString(link);
    }

    /// <summary>Reads the link of a payment.</summary>
    /// <param name="transactionId">The payment's id: a UUID.</param>
    /// <param name="text">The link.</param>
    /// <param name="question">What it asks.</param>
    /// <returns>False if it is no link of the payment.</returns>
    public static bool TryRead(
        string transactionId, string text, [NotNullWhen(true)] out PaymentStatusRequest? question)
    {
        question = null;
        if (!Guid.TryParse(transactionId, out var id) || !Base64Url.IsValid(text, out var length)
            || length <= AccountAt + DigestBytes)
        {
            return false;
        }
        var link = Base64Url.DecodeFromChars(text).AsSpan();
        Span<byte> digest = stackalloc byte[DigestBytes];
        Digest(id, link[..^DigestBytes], digest);
        // Other texts mean the same bytes: with spaces, and with other bits behind the last one.
        if (!digest.SequenceEqual(link[^DigestBytes..]) || Base64Url.EncodeToString(link) != text)
        {
            return false;
        }
        question = new PaymentStatusRequest
        {
            TransactionId = transactionId,
            AccountId = Encoding.ASCII.GetString(link[AccountAt..^DigestBytes]),
            PaymentType = (PaymentType)link[0],
            Fingerprint = ByteString.CopyFrom(link.Slice(FingerprintAt, PaymentFingerprint.Bytes)),
            Partition = BinaryPrimitives.ReadInt32BigEndian(link[PartitionAt..]),
        };
        return question.Partition >= 0;
    }

    private static void Digest(Guid transactionId, ReadOnlySpan<byte> link, Span<byte> digest)
    {
        Span<byte> whole = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData([.. Meaning, .. transactionId.ToByteArray(bigEndian: true), .. link], whole);
        whole[..digest.Length].CopyTo(digest);
    }
}
