using Google.Protobuf;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Changes one field of a protobuf message, at any depth: it is left out, repeated, given another number or
/// another value. The lengths around it are right, so that what reads the message gets as far as the field.</summary>
internal static class ProtobufFields
{
    private const int NumberMax = 16;

    /// <summary>Returns the changed message; null if the bytes are no message with fields.</summary>
    public static byte[]? Change(byte[] message, Random random, Func<ulong> number, Func<byte[]> text)
    {
        if (Read(message) is not { Count: > 0 } fields)
        {
            return null;
        }
        var at = random.Next(fields.Count);
        var (tag, value) = fields[at];
        var type = WireFormat.GetTagWireType(tag);
        switch (random.Next(6))
        {
            case 0:
                fields.RemoveAt(at);
                break;
            case 1:
                fields.Insert(random.Next(fields.Count + 1), fields[at]);
                break;
            case 2:
                fields[at] = (WireFormat.MakeTag(random.Next(1, NumberMax), type), value);
                break;
            default:
                fields[at] = (tag, type switch
                {
                    WireFormat.WireType.LengthDelimited =>
                        (random.Next(3) == 0 ? null : Change(value, random, number, text)) ?? text(),
                    WireFormat.WireType.Varint => Mutations.Varint(number()),
                    _ => BitConverter.GetBytes(number())[..value.Length],
                });
                break;
        }
        return [.. fields.SelectMany(field => Written(field.Tag, field.Value))];
    }

    private static byte[] Written(uint tag, byte[] value) =>
        WireFormat.GetTagWireType(tag) == WireFormat.WireType.LengthDelimited
            ? [.. Mutations.Varint(tag), .. Mutations.Varint((ulong)value.Length), .. value]
            : [.. Mutations.Varint(tag), .. value];

    private static List<(uint Tag, byte[] Value)>? Read(byte[] message)
    {
        var fields = new List<(uint, byte[])>();
        var input = new CodedInputStream(message);
        try
        {
            for (uint tag; (tag = input.ReadTag()) != 0;)
            {
                switch (WireFormat.GetTagWireType(tag))
                {
                    case WireFormat.WireType.Varint:
                        fields.Add((tag, Mutations.Varint(input.ReadUInt64())));
                        break;
                    case WireFormat.WireType.Fixed64:
                        fields.Add((tag, BitConverter.GetBytes(input.ReadFixed64())));
                        break;
                    case WireFormat.WireType.Fixed32:
                        fields.Add((tag, BitConverter.GetBytes(input.ReadFixed32())));
                        break;
                    case WireFormat.WireType.LengthDelimited:
                        fields.Add((tag, input.ReadBytes().ToByteArray()));
                        break;
                    default:
                        return null;
                }
            }
        }
        catch (InvalidProtocolBufferException)
        {
            return null;
        }
        return fields;
    }
}
