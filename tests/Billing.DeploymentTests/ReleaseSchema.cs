using System.Text.Json.Nodes;
using NJsonSchema;

namespace Billing.DeploymentTests;

/// <summary>Validates documents with a JSON schema of deploy/.</summary>
internal sealed class ReleaseSchema
{
    private readonly JsonSchema _schema;

    private ReleaseSchema(JsonSchema schema) => _schema = schema;

    /// <summary>Reads a schema of the repository.</summary>
    public static async Task<ReleaseSchema> ReadAsync(string file) =>
        new(await JsonSchema.FromJsonAsync(await File.ReadAllTextAsync(Path.Combine(Repository.Root, file))));

    /// <summary>Returns the problems of a document according to the schema.</summary>
    public IEnumerable<string> Problems(JsonNode document) => Problems(_schema, document);

    /// <summary>Returns the problems of a document according to one of the schema's definitions.</summary>
    public IEnumerable<string> Problems(string definition, JsonNode document) =>
        _schema.Definitions.TryGetValue(definition, out var schema)
            ? Problems(schema, document)
            : [$"the schema has no {definition}; its definitions are listed in deploy/schemas.sh"];

    private static IEnumerable<string> Problems(JsonSchema schema, JsonNode document) =>
        schema.Validate(document.ToJsonString()).Select(problem => problem.ToString());
}
