using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using Billing.Wire.V1;

namespace Billing.Messaging.Direct;

/// <summary>The wire contract's own classes as JSON: fields by their names in the .proto files, without those that have their
/// default value.</summary>
public static class WireJson
{
    /// <summary>The path of the one method.</summary>
    public const string Path = "/wire/v1/commands";

    private static readonly JsonSerializerOptions Options = new(WireJsonContext.Default.Options)
    {
        TypeInfoResolver = WireJsonContext.Default.WithAddedModifier(AsInProto3),
    };

    /// <summary>How commands are read and written.</summary>
    public static JsonTypeInfo<Command> Command { get; } = (JsonTypeInfo<Command>)Options.GetTypeInfo(typeof(Command));

    /// <summary>How replies are read and written.</summary>
    public static JsonTypeInfo<Reply> Reply { get; } = (JsonTypeInfo<Reply>)Options.GetTypeInfo(typeof(Reply));

    private static void AsInProto3(JsonTypeInfo type)
    {
        for (var i = type.Properties.Count - 1; i >= 0; i--)
        {
            var property = type.Properties[i];
            if (property is { Set: null, PropertyType.IsEnum: true })
            {
                // Which field of a oneof is set shows from the field itself.
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
