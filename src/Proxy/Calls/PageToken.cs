using System.Buffers.Binary;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.V1;
using Google.Protobuf;

namespace Billing.Proxy.Calls;

/// <summary>The token of a page of a statement: the version that the page goes on after, with a digest of that and of
/// the rest of the request. So no proxy keeps anything for it, and a token of another request is refused, as is one
/// that was altered. The digest is no secret: whoever makes a token by hand gets what the same request gets.</summary>
internal static class PageToken
{
    private const int VersionBytes = sizeof(long);
    private const int DigestBytes = 16;

    // Another one for tokens that mean something else.
    private static readonly byte[] Meaning = Encoding.ASCII.GetBytes("billing.v1.ListStatement");

    /// <summary>The token of the page after a version.</summary>
    public static string Of(ListStatementRequest request, long after)
    {
        Span<byte> token = stackalloc byte[VersionBytes + DigestBytes];
        BinaryPrimitives.WriteInt64BigEndian(token, after);
        Digest(request, token[..VersionBytes], token[VersionBytes..]);
        return Base64Url.EncodeToString(token);
    }

    /// <summary>Reads the token of a request.</summary>
    /// <param name="request">The request.</param>
    /// <param name="after">The version that its page goes on after: 0 for the first page.</param>
    /// <returns>What is wrong with it; null if nothing is.</returns>
    public static FieldViolation? Read(ListStatementRequest request, out long after)
    {
        after = 0;
        if (request.PageToken.Length == 0)
        {
            return null;
        }
        Span<byte> token = stackalloc byte[VersionBytes + DigestBytes];
        Span<byte> digest = stackalloc byte[DigestBytes];
        if (!Base64Url.IsValid(request.PageToken, out var length) || length != token.Length)
        {
            return Refused();
        }
        Base64Url.DecodeFromChars(request.PageToken, token);
        Digest(request, token[..VersionBytes], digest);
        after = BinaryPrimitives.ReadInt64BigEndian(token);
        return after > 0 && digest.SequenceEqual(token[VersionBytes..]) ? null : Refused();
    }

    private static FieldViolation Refused() => new(
        "page_token",
        "must be the next_page_token of an answer to this request, with the same account, range, types and "
            + "after_version");

    private static void Digest(ListStatementRequest request, ReadOnlySpan<byte> version, Span<byte> digest)
    {
        // Types in another order are the same.
        var query = new ListStatementRequest
        {
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            StartTime = RequestKinds.Known(request.StartTime),
            EndTime = RequestKinds.Known(request.EndTime),
            AfterVersion = request.AfterVersion,
            Types_ = { request.Types_.Order() },
        };
        Span<byte> whole = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData([.. Meaning, .. version, .. query.ToByteArray()], whole);
        whole[..digest.Length].CopyTo(digest);
    }
}
