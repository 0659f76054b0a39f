using System.Text.Json;

namespace Billing.DeploymentTests.Terraform;

/// <summary>A plan of Terraform.</summary>
internal sealed class TerraformPlan(JsonElement plan)
{
    private readonly JsonElement _values = plan.GetProperty("planned_values");

    /// <summary>The planned changes, such as "create module.host[...]".</summary>
    public IReadOnlyList<string> Changes { get; } =
        plan.TryGetProperty("resource_changes", out var changes) ? [.. Read(changes)] : [];

    /// <summary>The resources of all modules.</summary>
    public IReadOnlyList<PlannedResource> Resources { get; } =
        plan.GetProperty("planned_values").TryGetProperty("root_module", out var root) ? [.. Collect(root)] : [];

    /// <summary>Returns the resources of a type.</summary>
    public IEnumerable<PlannedResource> OfType(string type) => Resources.Where(resource => resource.Type == type);

    /// <summary>Returns an output's value.</summary>
    public JsonElement Output(string name) => _values.GetProperty("outputs").GetProperty(name).GetProperty("value");

    private static IEnumerable<string> Read(JsonElement changes) =>
        from change in changes.EnumerateArray()
        let actions = string.Join(
            ' ',
            change.GetProperty("change").GetProperty("actions").EnumerateArray().Select(action => action.GetString()))
        where actions is not ("no-op" or "read")
        select $"{actions} {change.GetProperty("address").GetString()}";

    private static IEnumerable<PlannedResource> Collect(JsonElement module)
    {
        var own = module.TryGetProperty("resources", out var resources)
            ? resources.EnumerateArray().Select(PlannedResource.Read)
            : [];
        var inner =
            module.TryGetProperty("child_modules", out var modules) ? modules.EnumerateArray().SelectMany(Collect) : [];
        return own.Concat(inner);
    }
}

/// <summary>A resource of a plan: its address, its type, its key in a collection, and its known values.</summary>
internal sealed record PlannedResource(string Address, string Type, string Key, JsonElement Values)
{
    public static PlannedResource Read(JsonElement resource) => new(
        resource.GetProperty("address").GetString()!,
        resource.GetProperty("type").GetString()!,
        resource.TryGetProperty("index", out var index) ? index.ToString() : "",
        resource.GetProperty("values"));

    /// <summary>Returns an attribute as text; empty if it is null or only known after apply.</summary>
    public string Text(string attribute) => Values.TryGetProperty(attribute, out var value) ? value.ToString() : "";
}
