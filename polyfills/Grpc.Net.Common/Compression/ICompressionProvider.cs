using System.IO.Compression;

namespace Grpc.Net.Compression;

public interface ICompressionProvider
{
    public string EncodingName { get; }

    public Stream CreateCompressionStream(Stream stream, CompressionLevel? compressionLevel);

    public Stream CreateDecompressionStream(Stream stream);
}
