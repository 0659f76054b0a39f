using System.Buffers.Binary;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Changes valid bytes a little: bits, lengths, parts cut out, repeated or taken from other input,
/// words that mean something to the reader, and nesting.</summary>
/// <param name="random">Decides.</param>
/// <param name="words">What means something to the reader of the bytes: tags, keywords, boundaries.</param>
internal sealed class Mutations(Random random, IReadOnlyList<byte[]> words)
{
    private const int BytesMax = 100_000;
    private const int ChangesMax = 6;
    private const int NestingMax = 200;

    // Where lengths, counts, versions and times begin to be read as something else.
    private static readonly ulong[] Numbers =
    [
        0, 1, 2, 127, 128, 255, 256, 16_383, 16_384, 32_767, 65_535, 65_536, int.MaxValue,
        1UL + int.MaxValue, uint.MaxValue, long.MaxValue,
        1UL + long.MaxValue, ulong.MaxValue, 253_402_300_800_000_000, 1_000_000_000_000_000,
    ];

    /// <summary>Returns changed bytes of a corpus; now and then some unchanged ones, whose effects the
    /// next ones then meet.</summary>
    public byte[] Of(IReadOnlyList<byte[]> corpus)
    {
        var bytes = corpus[random.Next(corpus.Count)];
        var keepsLengths = random.Next(2) == 0;
        for (var changes = random.Next(ChangesMax + 1); changes > 0; changes--)
        {
            bytes = (keepsLengths
                ? ProtobufFields.Change(bytes, random, () => Numbers[random.Next(Numbers.Length)], Text)
                : null) ?? Changed([.. bytes], corpus);
        }
        return bytes.Length <= BytesMax ? bytes : bytes[..BytesMax];
    }

    private byte[] Text() => words.Count > 0 && random.Next(2) == 0 ? words[random.Next(words.Count)] : Noise();

    private byte[] Changed(List<byte> bytes, IReadOnlyList<byte[]> corpus)
    {
        var at = random.Next(bytes.Count + 1);
        var count = random.Next(Math.Min(bytes.Count - at, 1 << random.Next(8)) + 1);
        switch (random.Next(12))
        {
            case 0 when at < bytes.Count:
                bytes[at] ^= (byte)(1 << random.Next(8));
                break;
            case 1 when at < bytes.Count:
                bytes[at] = (byte)random.Next(256);
                break;
            case 2:
                bytes.RemoveRange(at, count);
                break;
            case 3:
                bytes.RemoveRange(at, bytes.Count - at);
                break;
            case 4:
                bytes.InsertRange(at, bytes.GetRange(at, count));
                break;
            case 5:
                bytes.InsertRange(at, Noise());
                break;
            case 6 when words.Count > 0:
                bytes.InsertRange(at, words[random.Next(words.Count)]);
                break;
            case 7 when words.Count > 0:
                Overwrite(bytes, at, words[random.Next(words.Count)]);
                break;
            case 8:
                Overwrite(bytes, at, Number());
                break;
            case 9:
                bytes.InsertRange(at, Number());
                break;
            case 10:
                var other = corpus[random.Next(corpus.Count)];
                bytes.RemoveRange(at, bytes.Count - at);
                bytes.AddRange(other.AsSpan(random.Next(other.Length + 1)));
                break;
            default:
                Nest(bytes, at, count);
                break;
        }
        return [.. bytes];
    }

    private byte[] Noise()
    {
        var noise = new byte[1 << random.Next(10)];
        random.NextBytes(noise);
        return noise;
    }

    private byte[] Number()
    {
        var value = Numbers[random.Next(Numbers.Length)];
        var bytes = new byte[sizeof(ulong)];
        var size = 1 << random.Next(4);
        switch (random.Next(3))
        {
            case 0:
                BinaryPrimitives.WriteUInt64LittleEndian(bytes, value);
                return bytes[..size];
            case 1:
                BinaryPrimitives.WriteUInt64BigEndian(bytes, value);
                return bytes[^size..];
            default:
                return Varint(value);
        }
    }

    // A part becomes the content of a protobuf field of it, many times over.
    private void Nest(List<byte> bytes, int at, int count)
    {
        var inner = bytes.GetRange(at, count).ToArray();
        var tag = (byte)((random.Next(1, 16) << 3) | 2);
        for (var depth = random.Next(4) == 0 ? random.Next(NestingMax) : 1; depth > 0; depth--)
        {
            inner = [tag, .. Varint((ulong)inner.Length), .. inner];
        }
        bytes.RemoveRange(at, count);
        bytes.InsertRange(at, inner);
    }

    private static void Overwrite(List<byte> bytes, int at, byte[] with)
    {
        bytes.RemoveRange(at, Math.Min(with.Length, bytes.Count - at));
        bytes.InsertRange(at, with);
    }

    /// <summary>Writes a number as protobuf does.</summary>
    public static byte[] Varint(ulong value)
    {
        var bytes = new List<byte>();
        while (value >= 0x80)
        {
            bytes.Add((byte)(value | 0x80));
            value >>= 7;
        }
        return [.. bytes, (byte)value];
    }
}
