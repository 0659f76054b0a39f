using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using FsCheck;
using FsCheck.Fluent;
using Google.Protobuf;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Valid messages to begin with, the same in every run.</summary>
internal static class Corpus
{
    private const int Count = 40;
    private const int Size = 50;

    public static IReadOnlyList<byte[]> Commands { get; } = Of(Generate.Command);

    public static IReadOnlyList<byte[]> Replies { get; } = Of(
        Generate.Reply.Select(reply => new ReplyBatch { Replies = { reply } }));

    public static IReadOnlyList<byte[]> Events { get; } = Of(Generate.Event);

    /// <summary>Words in the messages: text of fields, tags of length-delimited fields, a group's beginning and end,
    /// half a surrogate pair.</summary>
    public static IReadOnlyList<string> Words { get; } =
    [
        "USD", "EUR", "visa/a", "visa/", "billing.replies.x", "billing.events",
        "01234567-89ab-cdef-0123-456789abcdef", "00000000-0000-0000-0000-000000000000",
        "\x0a", "\x12", "\x1a", "\x22", "\x2a", "\x32", "\x3a", "\x52", "\x5a", "\x62", "\x6a", "\x72", "\x0b", "\x0c",
        "\u00ed\u00a0\u0080", "\u009b31m", "\x1b[2J",
    ];

    public static IReadOnlyList<byte[]> Of<T>(Gen<T> messages)
        where T : IMessage =>
        [
            .. messages.Sample(Count, new Rnd(20260131, 12345), Size).Select(message => message.ToByteArray()),
        ];
}
