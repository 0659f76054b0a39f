using System.Buffers;
using Billing.Rpc.Rpcx;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using FsCheck;
using FsCheck.Fluent;
using Google.Protobuf;

namespace Billing.UnitTests.Rpc.Rpcx;

public sealed class FrameTests
{
    private static readonly Gen<Frame> AnyFrame =
        from kind in Gen.Choose((int)FrameKind.Request, (int)FrameKind.Error)
        from id in Generate.AnyLong
        from method in Generate.AnyLong
        from length in Gen.Choose(0, 100)
        from payload in Gen.Choose(0, 255).ArrayOf(length)
        select new Frame(
            new FrameHeader((FrameKind)kind, unchecked((ulong)id), unchecked((uint)method)),
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
                while (FrameReader.TryRead(ref arrived, out var header, out var payload))
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
            Assert.False(FrameReader.TryRead(ref input, out _, out _));
            Assert.Equal(length, input.Length);
        }
    });

    [Theory]
    [InlineData((4 << 20) + 1, "a frame of 4194305 bytes is longer than 4194304")]
    [InlineData(-1, "a frame of 4294967295 bytes is longer than 4194304")]
    public void A_payload_that_is_too_long_is_refused_as_soon_as_its_header_is_received(int length, string reason)
    {
        var bytes = new byte[FrameHeader.Bytes];
        new FrameHeader(FrameKind.Request, 1, 1, length).Write(bytes);
        Assert.Equal(reason, Assert.Throws<ProtocolException>(() => Read(bytes)).Message);
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(4, 1)]
    [InlineData(255, 1)]
    [InlineData(1, 2)]
    [InlineData(1, 0)]
    public void An_unknown_kind_or_version_is_refused(byte kind, byte version)
    {
        var bytes = new byte[FrameHeader.Bytes];
        new FrameHeader(FrameKind.Request, 1).Write(bytes);
        (bytes[4], bytes[5]) = (kind, version);
        Assert.Throws<ProtocolException>(() => Read(bytes));
    }

    [Fact]
    public void The_first_line_of_another_protocol_is_refused() =>
        Assert.Throws<ProtocolException>(() => Read("POST /billing HTTP/1.1\r\nHost: localhost\r\n"u8.ToArray()));

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
        FrameReader.TryRead(ref input, out _, out _);
    }

    private static List<Frame> ReadAll(ReadOnlySequence<byte> input)
    {
        var frames = new List<Frame>();
        while (FrameReader.TryRead(ref input, out var header, out var payload))
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
            (Header with { Length = Payload.Length }).Write(bytes);
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
