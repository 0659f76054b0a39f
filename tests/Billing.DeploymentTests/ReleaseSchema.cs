using System.Text.Json.Nodes;
using NJsonSchema;

namespace Billing.DeploymentTests;

/// <summary>A JSON schema of deploy/, and what it finds.</summary>
internal sealed class ReleaseSchema
{
    private readonly JsonSchema _schema;

    private ReleaseSchema(JsonSchema schema) => _schema = schema;

    /// <summary>Reads a schema of the repository.</summary>
    public static async Task<ReleaseSchema> ReadAsync(string file) =>
        new(await JsonSchema.FromJsonAsync(await File.ReadAllTextAsync(Path.Combine(Repository.Root, file))));

    /// <summary>What is wrong with a document by the schema itself.</summary>
    public IEnumerable<string> Problems(JsonNode document) => Problems(_schema, document);

    /// <summary>What is wrong with a document by one of the schema's definitions.</summary>
    public IEnumerable<string> Problems(string definition, JsonNode document) =>
        _schema.Definitions.TryGetValue(definition, out var schema)
            ? Problems(schema, document)
            : [$"the schema has no {definition}: deploy/schemas.sh says what it has"];

    private static IEnumerable<string> Problems(JsonSchema schema, JsonNode document) =>
        schema.Validate(document.ToJsonString()).Select(problem => problem.ToString());
}
