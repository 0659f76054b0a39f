using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Billing.Proxy.Failures;

/// <summary>Writes JSON bodies. Each thread reuses one buffer, so that an answer allocates none.</summary>
internal static class JsonBody
{
    private const int KeptBytesMax = 64 * 1024;

    private static readonly JsonWriterOptions Options = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    [ThreadStatic]
    private static ArrayBufferWriter<byte>? _buffer;

    [ThreadStatic]
    private static Utf8JsonWriter? _writer;

    /// <summary>Writes a body; the server sends it when the request ends.</summary>
    public static void Write<T>(HttpResponse response, T value, JsonTypeInfo<T> type, string contentType)
    {
        var buffer = _buffer ??= new ArrayBufferWriter<byte>(1024);
        var writer = _writer ??= new Utf8JsonWriter(buffer, Options);
        try
        {
            JsonSerializer.Serialize(writer, value, type);
            response.ContentType = contentType;
            response.ContentLength = buffer.WrittenCount;
            response.BodyWriter.Write(buffer.WrittenSpan);
        }
        finally
        {
            if (buffer.Capacity > KeptBytesMax)
            {
                (_buffer, _writer) = (null, null);
            }
            else
            {
                buffer.ResetWrittenCount();
                writer.Reset();
            }
        }
    }
}
