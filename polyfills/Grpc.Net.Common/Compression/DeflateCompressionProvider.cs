using System.IO.Compression;

namespace Grpc.Net.Compression;

public sealed class DeflateCompressionProvider : ICompressionProvider
{
    private readonly CompressionLevel _defaultCompressionLevel;

    public DeflateCompressionProvider(CompressionLevel defaultCompressionLevel) =>
        _defaultCompressionLevel = defaultCompressionLevel;

    public string EncodingName => "deflate";

    // HTTP's "deflate" is the zlib format (RFC 9110, 8.4.1.2), not the bare one that DeflateStream writes.
    public Stream CreateCompressionStream(Stream stream, CompressionLevel? compressionLevel) =>
        new ZLibStream(stream, compressionLevel ?? _defaultCompressionLevel, leaveOpen: true);

    public Stream CreateDecompressionStream(Stream stream) =>
        new ZLibStream(stream, CompressionMode.Decompress, leaveOpen: true);
}
