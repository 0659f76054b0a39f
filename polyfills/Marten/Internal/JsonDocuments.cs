using System.Text.Json;
using System.Text.Json.Serialization;
using Weasel.Core;

namespace Marten.Internal;

/// <summary>System.Text.Json in the settings that the stored events have.</summary>
internal sealed class JsonDocuments : Marten.ISerializer
{
    private readonly JsonSerializerOptions _options = new();

    public JsonDocuments(EnumStorage enumStorage, Casing casing, Action<JsonSerializerOptions>? configure)
    {
        _options.PropertyNamingPolicy = casing switch
        {
            Casing.CamelCase => JsonNamingPolicy.CamelCase,
            Casing.SnakeCase => JsonNamingPolicy.SnakeCaseLower,
            _ => null,
        };
        if (enumStorage == EnumStorage.AsString)
        {
            _options.Converters.Add(new JsonStringEnumConverter());
        }

        configure?.Invoke(_options);
    }

    public string ToJson(object document) => JsonSerializer.Serialize(document, document.GetType(), _options);

    public byte[] ToUtf8(object document)
        => JsonSerializer.SerializeToUtf8Bytes(document, document.GetType(), _options);

    public T FromUtf8<T>(ReadOnlySpan<byte> json) => JsonSerializer.Deserialize<T>(json, _options)!;
}
