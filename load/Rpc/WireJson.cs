using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Billing.Wire.V1;

namespace Billing.Rpc;

/// <summary>JSON serialisation of the wire contract's classes: fields have their names of the .proto files, and fields with
/// default values are omitted.</summary>
public static class WireJson
{
    /// <summary>The path of the only endpoint.</summary>
    public const string Path = "/wire/v1/commands";

    private static readonly JsonSerializerOptions Options = new(WireJsonContext.Default.Options)
    {
        TypeInfoResolver = WireJsonContext.Default.WithAddedModifier(FollowProto3),
    };

    /// <summary>Serialisation of commands.</summary>
    public static JsonTypeInfo<Command> Command { get; } = (JsonTypeInfo<Command>)Options.GetTypeInfo(typeof(Command));

    /// <summary>Serialisation of replies.</summary>
    public static JsonTypeInfo<Reply> Reply { get; } = (JsonTypeInfo<Reply>)Options.GetTypeInfo(typeof(Reply));

    private static void FollowProto3(JsonTypeInfo type)
    {
        for (var i = type.Properties.Count - 1; i >= 0; i--)
        {
            var property = type.Properties[i];
            if (property is { Set: null, PropertyType.IsEnum: true })
            {
                // Omits the case property of a oneof: it can be derived from the field that is set.
                type.Properties.RemoveAt(i);
            }
            else if (property.PropertyType == typeof(string))
            {
                property.ShouldSerialize = (_, text) => text is string { Length: > 0 };
            }
        }
    }
}

[JsonSourceGenerationOptions(
    GenerationMode = JsonSourceGenerationMode.Metadata,
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingDefault,
    PreferredObjectCreationHandling = JsonObjectCreationHandling.Populate)]
[JsonSerializable(typeof(Command))]
[JsonSerializable(typeof(Reply))]
internal sealed partial class WireJsonContext : JsonSerializerContext;
