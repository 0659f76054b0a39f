using System.Text.Json;
using System.Text.Json.Serialization;
using Weasel.Core;

namespace Marten.Internal;

/// <summary>System.Text.Json in the settings that the stored documents and events have.</summary>
internal sealed class JsonDocuments : ISerializer
{
    private readonly JsonSerializerOptions _options;

    public JsonDocuments(
        JsonSerializerOptions? options,
        EnumStorage enumStorage,
        Casing casing,
        Action<JsonSerializerOptions>? configure)
    {
        EnumStorage = enumStorage;
        Casing = casing;
        _options = options is null ? new JsonSerializerOptions() : new JsonSerializerOptions(options);
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

    public EnumStorage EnumStorage { get; }

    public Casing Casing { get; }

    public string ToJson(object document) => JsonSerializer.Serialize(document, document.GetType(), _options);

    public T FromJson<T>(Stream stream) => JsonSerializer.Deserialize<T>(stream, _options)!;

    public object FromJson(Type type, Stream stream) => JsonSerializer.Deserialize(stream, type, _options)!;

    public byte[] ToUtf8(object document)
        => JsonSerializer.SerializeToUtf8Bytes(document, document.GetType(), _options);

    public T FromUtf8<T>(ReadOnlySpan<byte> json) => JsonSerializer.Deserialize<T>(json, _options)!;

    /// <summary>Headers come back as strings, numbers and booleans, not as JSON elements.</summary>
    public static Dictionary<string, object>? HeadersFromUtf8(ReadOnlySpan<byte> json)
    {
        var elements = JsonSerializer.Deserialize<Dictionary<string, JsonElement>>(json, JsonSerializerOptions.Default);
        return elements?.ToDictionary(header => header.Key, header => Plain(header.Value));
    }

    private static object Plain(JsonElement value) => value.ValueKind switch
    {
        JsonValueKind.String => value.GetString()!,
        JsonValueKind.True => true,
        JsonValueKind.False => false,
        JsonValueKind.Number when value.TryGetInt64(out var number) => number,
        JsonValueKind.Number => value.GetDouble(),
        _ => value,
    };
}
