using System.Buffers.Binary;
using System.Text;

namespace Billing.DeploymentTests.Terraform;

/// <summary>Rewrites a MessagePack map with text keys, Terraform's format of a resource. Values stay bytes.</summary>
internal static class MessagePackMap
{
    /// <summary>A value of null.</summary>
    public static readonly byte[] Null = [0xc0];

    /// <summary>A value that is only known after apply: Terraform's extension 0.</summary>
    public static readonly byte[] Unknown = [0xd4, 0x00, 0x00];

    public static readonly byte[] True = [0xc3];

    public static readonly byte[] Zero = [0x00];

    public static readonly byte[] EmptyList = [0x90];

    public static readonly byte[] EmptyMap = [0x80];

    /// <summary>Writes a text of at most 31 bytes.</summary>
    public static byte[] Text(string text)
    {
        var bytes = Encoding.UTF8.GetBytes(text);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(bytes.Length, 31, nameof(text));
        return [(byte)(0xa0 | bytes.Length), .. bytes];
    }

    /// <summary>Rewrites the map with the values that <paramref name="change"/> returns for
    /// each key and value.</summary>
    public static byte[] Rewrite(ReadOnlySpan<byte> map, Func<string, byte[], byte[]> change)
    {
        var (entries, head) = ReadMapHead(map);
        List<byte> written = [.. map[..head]];
        var at = head;
        for (var entry = 0; entry < entries; entry++)
        {
            var key = map[at..(at + LengthOf(map[at..]))];
            at += key.Length;
            var value = map[at..(at + LengthOf(map[at..]))].ToArray();
            at += value.Length;
            written.AddRange(key);
            written.AddRange(change(ReadText(key), value));
        }
        return [.. written];
    }

    private static (int Entries, int Head) ReadMapHead(ReadOnlySpan<byte> map) => map[0] switch
    {
        >= 0x80 and <= 0x8f => (map[0] & 0x0f, 1),
        0xde => (BinaryPrimitives.ReadUInt16BigEndian(map[1..]), 3),
        _ => throw new FormatException($"Byte {map[0]:x2} does not begin a map of a resource."),
    };

    private static string ReadText(ReadOnlySpan<byte> text) =>
        Encoding.UTF8.GetString(text[(text[0] is >= 0xa0 and <= 0xbf ? 1 : text[0] == 0xd9 ? 2 : 3)..]);

    private static int LengthOf(ReadOnlySpan<byte> value) => value[0] switch
    {
        <= 0x7f or >= 0xe0 or 0xc0 or 0xc2 or 0xc3 => 1,
        <= 0x8f => 1 + LengthOfItems(value[1..], 2 * (value[0] & 0x0f)),
        <= 0x9f => 1 + LengthOfItems(value[1..], value[0] & 0x0f),
        <= 0xbf => 1 + (value[0] & 0x1f),
        0xc4 or 0xd9 => 2 + value[1],
        0xc5 or 0xda => 3 + BinaryPrimitives.ReadUInt16BigEndian(value[1..]),
        0xc6 or 0xdb => 5 + (int)BinaryPrimitives.ReadUInt32BigEndian(value[1..]),
        0xc7 => 3 + value[1],
        0xc8 => 4 + BinaryPrimitives.ReadUInt16BigEndian(value[1..]),
        0xca or 0xce or 0xd2 => 5,
        0xcb or 0xcf or 0xd3 => 9,
        0xcc or 0xd0 => 2,
        0xcd or 0xd1 => 3,
        >= 0xd4 and <= 0xd8 => 2 + (1 << (value[0] - 0xd4)),
        0xdc => 3 + LengthOfItems(value[3..], BinaryPrimitives.ReadUInt16BigEndian(value[1..])),
        0xde => 3 + LengthOfItems(value[3..], 2 * BinaryPrimitives.ReadUInt16BigEndian(value[1..])),
        _ => throw new FormatException($"Byte {value[0]:x2} does not begin a value that Terraform writes."),
    };

    private static int LengthOfItems(ReadOnlySpan<byte> items, int count)
    {
        var length = 0;
        for (var item = 0; item < count; item++)
        {
            length += LengthOf(items[length..]);
        }
        return length;
    }
}
