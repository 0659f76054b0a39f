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
    public IEnumerable<string> Problems(JsonNode document) =>
        _schema.Validate(document.ToJsonString()).Select(problem => problem.ToString());
}
