using System.Buffers;

namespace Grpc.Core;

/// <summary>Where a serializer puts its message. A transport overrides the ways of writing that it offers.</summary>
public abstract class SerializationContext
{
    public virtual void Complete(byte[] payload) => throw new NotImplementedException();

    public virtual IBufferWriter<byte> GetBufferWriter() => throw new NotImplementedException();

    /// <summary>A hint, which nobody needs to heed.</summary>
    public virtual void SetPayloadLength(int payloadLength)
    {
    }

    public virtual void Complete() => throw new NotImplementedException();
}

/// <summary>Where a deserializer finds its message. A transport overrides the ways of reading that it offers.</summary>
public abstract class DeserializationContext
{
    public abstract int PayloadLength { get; }

    public virtual byte[] PayloadAsNewBuffer() => throw new NotImplementedException();

    public virtual ReadOnlySequence<byte> PayloadAsReadOnlySequence() => throw new NotImplementedException();
}
