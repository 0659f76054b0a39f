using System.IO.Compression;

namespace Grpc.Net.Compression;

public sealed class GzipCompressionProvider : ICompressionProvider
{
    private readonly CompressionLevel _defaultCompressionLevel;

    public GzipCompressionProvider(CompressionLevel defaultCompressionLevel) =>
        _defaultCompressionLevel = defaultCompressionLevel;

    public string EncodingName => "gzip";

    public Stream CreateCompressionStream(Stream stream, CompressionLevel? compressionLevel) =>
        new GZipStream(stream, compressionLevel ?? _defaultCompressionLevel, leaveOpen: true);

    public Stream CreateDecompressionStream(Stream stream) =>
        new GZipStream(stream, CompressionMode.Decompress, leaveOpen: true);
}
