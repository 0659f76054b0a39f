namespace Grpc.Core;

[Flags]
public enum WriteFlags
{
    BufferHint = 0x1,
    NoCompress = 0x2,
}

public class WriteOptions
{
    public static readonly WriteOptions Default = new();

    public WriteOptions(WriteFlags flags = default) => Flags = flags;

    public WriteFlags Flags { get; }
}
