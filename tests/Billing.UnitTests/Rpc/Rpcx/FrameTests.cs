using System.Buffers;
using Billing.Rpc.Rpcx;
using Billing.Rpc.Rpcx.Wire;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using FsCheck;
using FsCheck.Fluent;
using Google.Protobuf;

namespace Billing.UnitTests.Rpc.Rpcx;

public sealed class FrameTests
{
    private const int LengthMax = 1_000;

    private static readonly Gen<Frame> AnyFrame =
        from kind in Gen.Choose((int)FrameKind.Hello, (int)FrameKind.GoAway)
        from id in Generate.AnyLong
        from method in Gen.Choose(0, ushort.MaxValue)
        from left in Generate.AnyLong
        from length in Gen.Choose(0, 100)
        from payload in Gen.Choose(0, 255).ArrayOf(length)
        select new Frame(
            new FrameHeader((FrameKind)kind, unchecked((ulong)id), (ushort)method, unchecked((ulong)left)),
            Array.ConvertAll(payload, b => (byte)b));

    [Fact]
    public void Frames_are_read_as_they_were_written_however_their_bytes_are_split()
    {
        var streams =
            from frames in AnyFrame.ArrayOf(5)
            let bytes = frames.SelectMany(f => f.Bytes()).ToArray()
            from cuts in Gen.Choose(0, bytes.Length).ArrayOf(6)
            select (Frames: frames, Bytes: bytes, Cuts: cuts);
        streams.Holds(stream =>
        {
            var read = ReadAll(Split(stream.Bytes, stream.Cuts));
            Assert.Equal(stream.Frames, read);
        });
    }

    [Fact]
    public void Frames_are_read_as_they_were_written_however_their_bytes_arrive()
    {
        var streams =
            from frames in AnyFrame.ArrayOf(3)
            let bytes = frames.SelectMany(f => f.Bytes()).ToArray()
            from cuts in Gen.Choose(0, bytes.Length).ArrayOf(4)
            select (Frames: frames, Bytes: bytes, Cuts: cuts);
        streams.Holds(stream =>
        {
            var read = new List<Frame>();
            var consumed = 0;
            foreach (var end in stream.Cuts.Append(stream.Bytes.Length).Order())
            {
                var arrived = new ReadOnlySequence<byte>(stream.Bytes, consumed, end - consumed);
                while (FrameReader.TryRead(ref arrived, LengthMax, out var header, out var payload))
                {
                    read.Add(Frame.Of(header, payload));
                }
                consumed = end - (int)arrived.Length;
            }
            Assert.Equal(stream.Frames, read);
        });
    }

    [Fact]
    public void An_incomplete_frame_is_not_read() => AnyFrame.Holds(frame =>
    {
        var bytes = frame.Bytes();
        for (var length = 0; length < bytes.Length; length++)
        {
            var input = new ReadOnlySequence<byte>(bytes, 0, length);
            Assert.False(FrameReader.TryRead(ref input, LengthMax, out _, out _));
            Assert.Equal(length, input.Length);
        }
    });

    [Fact]
    public void A_payload_that_is_too_long_is_refused_as_soon_as_its_header_is_received()
    {
        var bytes = new byte[FrameHeader.Bytes];
        new FrameHeader(FrameKind.Request, 1, 1).Write(bytes, LengthMax + 1);
        var e = Assert.Throws<ProtocolException>(() => Read(bytes));
        Assert.Equal("a frame of 1001 bytes is larger than FrameBytesMax, 1000", e.Message);
    }

    [Fact]
    public void A_length_that_no_array_can_have_is_refused()
    {
        var bytes = new byte[FrameHeader.Bytes];
        new FrameHeader(FrameKind.Request, 1, 1).Write(bytes, -1);
        Assert.Contains("4294967295 bytes", Assert.Throws<ProtocolException>(() => Read(bytes)).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(9)]
    [InlineData(255)]
    public void An_unknown_kind_is_refused(byte kind)
    {
        var bytes = new byte[FrameHeader.Bytes];
        new FrameHeader((FrameKind)kind).Write(bytes, 0);
        Assert.Throws<ProtocolException>(() => Read(bytes));
    }

    [Fact]
    public void The_first_line_of_another_protocol_is_refused() =>
        Assert.Throws<ProtocolException>(() => Read("POST /billing HTTP/1.1\r\nHost: localhost\r\n"u8.ToArray()));

    [Fact]
    public void A_greeting_of_another_version_is_refused_with_both_versions()
    {
        var bytes = Greeting.Write(new RpcxHello { FrameBytesMax = 7 }, version: 2);
        var e = Assert.Throws<ProtocolException>(() => Greeting.Read(new ReadOnlySequence<byte>(bytes)));
        Assert.Equal("the client uses version 2 of RPCX, and this server version 1", e.Message);
        Assert.Equal(RpcxReasons.VersionRefused, e.Reason);
    }

    [Fact]
    public void A_greeting_is_read_as_it_was_written()
    {
        var hello = new RpcxHello { FrameBytesMax = 7, Methods = new RpcxMethodNames { FirstNumber = 1 } };
        Assert.Equal(hello, Greeting.Read(new ReadOnlySequence<byte>(Greeting.Write(hello))));
    }

    [Fact]
    public void A_message_is_parsed_from_one_or_several_segments() => Generate.Command.Holds(command =>
    {
        var bytes = command.ToByteArray();
        Assert.Equal(command, FrameReader.Parse(Command.Parser, new ReadOnlySequence<byte>(bytes)));
        Assert.Equal(command, FrameReader.Parse(Command.Parser, Split(bytes, [1, bytes.Length / 2])));
    });

    private static void Read(byte[] bytes)
    {
        var input = new ReadOnlySequence<byte>(bytes);
        FrameReader.TryRead(ref input, LengthMax, out _, out _);
    }

    private static List<Frame> ReadAll(ReadOnlySequence<byte> input)
    {
        var frames = new List<Frame>();
        while (FrameReader.TryRead(ref input, LengthMax, out var header, out var payload))
        {
            frames.Add(Frame.Of(header, payload));
        }
        Assert.True(input.IsEmpty);
        return frames;
    }

    private static ReadOnlySequence<byte> Split(byte[] bytes, int[] cuts)
    {
        var first = new Segment(ReadOnlyMemory<byte>.Empty, null);
        var last = first;
        var from = 0;
        foreach (var to in cuts.Append(bytes.Length).Order())
        {
            last = new Segment(bytes.AsMemory(from, to - from), last);
            from = to;
        }
        return new ReadOnlySequence<byte>(first, 0, last, last.Memory.Length);
    }

    private sealed record Frame(FrameHeader Header, byte[] Payload)
    {
        public static Frame Of(in FrameHeader header, in ReadOnlySequence<byte> payload) =>
            new(header with { Length = 0 }, payload.ToArray());

        public byte[] Bytes()
        {
            var bytes = new byte[FrameHeader.Bytes + Payload.Length];
            Header.Write(bytes, Payload.Length);
            Payload.CopyTo(bytes, FrameHeader.Bytes);
            return bytes;
        }

        public bool Equals(Frame? other) =>
            other is not null && Header == other.Header && Payload.AsSpan().SequenceEqual(other.Payload);

        public override int GetHashCode() => Header.GetHashCode();
    }

    private sealed class Segment : ReadOnlySequenceSegment<byte>
    {
        public Segment(ReadOnlyMemory<byte> memory, Segment? before)
        {
            Memory = memory;
            if (before is not null)
            {
                before.Next = this;
                RunningIndex = before.RunningIndex + before.Memory.Length;
            }
        }
    }
}
