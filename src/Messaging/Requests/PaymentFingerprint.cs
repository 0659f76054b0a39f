using System.Buffers;
using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Billing.V1;

namespace Billing.Messaging.Requests;

/// <summary>What two payments with one id have in common only if their contents are the same: a digest of the amount
/// and the notes, short enough for an address. docs/wire-protocol.md defines it.</summary>
public static class PaymentFingerprint
{
    /// <summary>Its length.</summary>
    public const int Bytes = 16;

    /// <summary>The fingerprint of a payment. Notes without contents are the same as none.</summary>
    public static byte[] Of(Money amount, PaymentNotes? notes)
    {
        var contents = new ArrayBufferWriter<byte>();
        Write(contents, amount.CurrencyCode);
        BinaryPrimitives.WriteInt64BigEndian(contents.GetSpan(sizeof(long)), amount.Units);
        contents.Advance(sizeof(long));
        Write(contents, amount.Nanos);
        Write(contents, notes?.Reference ?? "");
        IEnumerable<KeyValuePair<string, string>> pairs =
            notes is null ? [] : notes.Metadata.OrderBy(pair => pair.Key, StringComparer.Ordinal);
        foreach (var (name, value) in pairs)
        {
            Write(contents, name);
            Write(contents, value);
        }
        return SHA256.HashData(contents.WrittenSpan)[..Bytes];
    }

    private static void Write(ArrayBufferWriter<byte> contents, string text)
    {
        Write(contents, Encoding.UTF8.GetByteCount(text));
        Encoding.UTF8.GetBytes(text, contents);
    }

    private static void Write(ArrayBufferWriter<byte> contents, int number)
    {
        BinaryPrimitives.WriteInt32BigEndian(contents.GetSpan(sizeof(int)), number);
        contents.Advance(sizeof(int));
    }
}
