using System.Buffers;
using System.Buffers.Binary;
using BenchmarkDotNet.Attributes;
using Billing.Rpc.Rpcx;
using Billing.V1;
using Google.Protobuf;

namespace Billing.Benchmarks;

/// <summary>Frames of a request: RPCX's header has 20 bytes with call and method; gRPC's prefix has 5 bytes, as HTTP/2
/// carries the rest in its own frames and headers.</summary>
public class RpcFrames
{
    private const int GrpcPrefixBytes = 5;

    private readonly MakePaymentRequest _request = Payments.Request();
    private readonly ArrayBufferWriter<byte> _output = new(1024);
    private ReadOnlySequence<byte> _rpcx;
    private byte[] _grpc = [];

    [GlobalSetup]
    public void Setup()
    {
        WriteRpcx();
        _rpcx = new ReadOnlySequence<byte>(_output.WrittenSpan.ToArray());
        WriteGrpc();
        _grpc = _output.WrittenSpan.ToArray();
    }

    [Benchmark]
    public int WriteRpcx()
    {
        _output.ResetWrittenCount();
        var length = _request.CalculateSize();
        var frame = _output.GetSpan(FrameHeader.Bytes + length)[..(FrameHeader.Bytes + length)];
        new FrameHeader(FrameKind.Request, CallId: 42, Method: 1, length).Write(frame);
        _request.WriteTo(frame[FrameHeader.Bytes..]);
        _output.Advance(frame.Length);
        return frame.Length;
    }

    [Benchmark]
    public int WriteGrpc()
    {
        _output.ResetWrittenCount();
        var length = _request.CalculateSize();
        var frame = _output.GetSpan(GrpcPrefixBytes + length)[..(GrpcPrefixBytes + length)];
        frame[0] = 0;
        BinaryPrimitives.WriteInt32BigEndian(frame[1..], length);
        _request.WriteTo(frame[GrpcPrefixBytes..]);
        _output.Advance(frame.Length);
        return frame.Length;
    }

    [Benchmark]
    public MakePaymentRequest ReadRpcx()
    {
        var input = _rpcx;
        FrameReader.TryRead(ref input, out _, out var payload);
        return FrameReader.Parse(MakePaymentRequest.Parser, payload);
    }

    [Benchmark]
    public MakePaymentRequest ReadGrpc() => MakePaymentRequest.Parser.ParseFrom(
        _grpc.AsSpan(GrpcPrefixBytes, BinaryPrimitives.ReadInt32BigEndian(_grpc.AsSpan(1))));
}
