using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using YamlDotNet.Core;
using YamlDotNet.RepresentationModel;

namespace Billing.DeploymentTests;

/// <summary>Converts YAML to JSON, with anchors and merges resolved.</summary>
internal static class ReleaseYaml
{
    private const string Merge = "<<";

    /// <summary>Reads the documents of a text.</summary>
    public static IReadOnlyList<JsonObject> Read(string text)
    {
        var stream = new YamlStream();
        stream.Load(new StringReader(text));
        return [.. stream.Documents.Select(document => (JsonObject)Convert(document.RootNode)!)];
    }

    /// <summary>Returns the node at a path of names and numbers separated by dots; null if there is none.</summary>
    public static JsonNode? At(this JsonNode? node, string path) =>
        path.Split('.').Aggregate(node, (at, name) => at switch
        {
            JsonObject map => map[name],
            JsonArray list when int.TryParse(name, CultureInfo.InvariantCulture, out var index) && index < list.Count =>
                list[index],
            _ => null,
        });

    /// <summary>Returns the text at a path, with or without quotes in the file; null if there is none.</summary>
    public static string? Text(this JsonNode? node, string path) => node.At(path)?.ToString();

    /// <summary>Returns the items of the list at a path; none if there is no list.</summary>
    public static IEnumerable<JsonNode?> Items(this JsonNode? node, string path) => node.At(path) as JsonArray ?? [];

    /// <summary>Returns the entries of the map at a path; none if there is no map.</summary>
    public static IEnumerable<KeyValuePair<string, JsonNode?>> Entries(this JsonNode? node, string path) =>
        node.At(path) as JsonObject ?? [];

    private static JsonNode? Convert(YamlNode node) => node switch
    {
        YamlMappingNode map => Map(map),
        YamlSequenceNode list => new JsonArray([.. list.Children.Select(Convert)]),
        YamlScalarNode { Style: ScalarStyle.Plain, Value: var value } => Plain(value),
        YamlScalarNode { Value: var value } => JsonValue.Create(value),
        _ => throw new JsonException($"JSON has no {node.NodeType}"),
    };

    // A map's own entries override those that it inherits by "<<".
    private static JsonObject Map(YamlMappingNode map)
    {
        var merged = new JsonObject();
        foreach (var entry in map.Children.OrderBy(entry => Key(entry) != Merge))
        {
            if (Key(entry) == Merge)
            {
                foreach (var (name, inherited) in (JsonObject)Convert(entry.Value)!)
                {
                    merged[name] = inherited?.DeepClone();
                }
            }
            else
            {
                merged[Key(entry)] = Convert(entry.Value);
            }
        }
        return merged;
    }

    private static string Key(KeyValuePair<YamlNode, YamlNode> entry) => ((YamlScalarNode)entry.Key).Value!;

    // A value without quotes, by YAML's core schema.
    private static JsonValue? Plain(string? value) => value switch
    {
        null or "" or "~" or "null" => null,
        "true" => JsonValue.Create(true),
        "false" => JsonValue.Create(false),
        _ when long.TryParse(value, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number) =>
            JsonValue.Create(number),
        _ when decimal.TryParse(value, NumberStyles.Float, CultureInfo.InvariantCulture, out var number) =>
            JsonValue.Create(number),
        _ => JsonValue.Create(value),
    };
}
