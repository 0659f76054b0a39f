using System.Text.Json;
using Billing.DeploymentTests.Protocol;
using Google.Protobuf;

namespace Billing.DeploymentTests.Terraform;

/// <summary>The AWS provider's schema of the resources and data sources that the modules use:
/// deploy/terraform/schema/aws.json in the form of Terraform's protocol.</summary>
internal sealed class AwsSchema
{
    private AwsSchema(JsonElement root)
    {
        Provider = ToSchema(root.GetProperty("provider"));
        Resources = ToSchemas(root.GetProperty("resources"));
        Data = ToSchemas(root.GetProperty("data"));
    }

    public Schema Provider { get; }

    public IReadOnlyDictionary<string, Schema> Resources { get; }

    public IReadOnlyDictionary<string, Schema> Data { get; }

    public static AwsSchema Read()
    {
        using var document = JsonDocument.Parse(
            File.ReadAllBytes(Path.Combine(Repository.Root, "deploy/terraform/schema/aws.json")));
        return new AwsSchema(document.RootElement);
    }

    private static Dictionary<string, Schema> ToSchemas(JsonElement types) =>
        types.EnumerateObject().ToDictionary(type => type.Name, type => ToSchema(type.Value));

    private static Schema ToSchema(JsonElement block) => new() { Block = ToBlock(block) };

    private static Schema.Types.Block ToBlock(JsonElement block) => new()
    {
        Attributes = { block.GetProperty("attributes").EnumerateObject().Select(ToAttribute) },
        BlockTypes = { block.GetProperty("blocks").EnumerateObject().Select(ToNestedBlock) },
    };

    private static Schema.Types.Attribute ToAttribute(JsonProperty attribute) => new()
    {
        Name = attribute.Name,
        Type = ByteString.CopyFromUtf8(attribute.Value.GetProperty("type").GetRawText()),
        Required = attribute.Value.TryGetProperty("required", out _),
        Optional = attribute.Value.TryGetProperty("optional", out _),
        Computed = attribute.Value.TryGetProperty("computed", out _),
    };

    private static Schema.Types.NestedBlock ToNestedBlock(JsonProperty block) => new()
    {
        TypeName = block.Name,
        Block = ToBlock(block.Value),
        Nesting = Enum.Parse<Schema.Types.NestedBlock.Types.NestingMode>(
            block.Value.GetProperty("nesting").GetString()!, ignoreCase: true),
        MinItems = block.Value.TryGetProperty("min", out var min) ? min.GetInt64() : 0,
        MaxItems = block.Value.TryGetProperty("max", out var max) ? max.GetInt64() : 0,
    };
}
