using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Machines;

/// <summary>A machine of the topology.</summary>
/// <param name="Environment">The variables of its <c>/etc/billing/host.env</c>.</param>
internal sealed record Machine(
    string Name, string Tier, string Zone, string Address, IReadOnlyDictionary<string, string> Environment)
{
    /// <summary>Of a machine of a further database, that database's name; empty for all others.</summary>
    public string Database => Environment["BILLING_DATABASE"];

    /// <summary>The proxies that it calls, separated by commas.</summary>
    public string Proxies =>
        string.Join(',', Environment["BILLING_PROXIES"].Split(',').Select(address => "https://" + address));
}

/// <summary>An allowed connection between tiers, or <c>callers</c> and <c>load-balancer</c>, which the
/// rehearsal does not have.</summary>
internal sealed record AccessRule(string From, string To, int Port);

/// <summary>The machines, the allowed connections, and the scripts of the first start: the outputs of
/// deploy/terraform/modules/topology.</summary>
/// <param name="UserData">The script of each machine, by its name.</param>
internal sealed record Topology(
    IReadOnlyList<Machine> Machines, IReadOnlyList<AccessRule> Rules, IReadOnlyDictionary<string, string> UserData)
{
    private static readonly JsonSerializerOptions SnakeCase =
        new() { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };

    public IEnumerable<Machine> Tier(string tier) => Machines.Where(machine => machine.Tier == tier);

    public Machine this[string name] => Machines.First(machine => machine.Name == name);

    /// <summary>Applies a copy of the module, which needs no provider and changes nothing.</summary>
    public static async Task<Topology> PlanAsync(
        string module, string folder, IReadOnlyDictionary<string, object> variables,
        CancellationToken cancellationToken)
    {
        Directory.CreateDirectory(folder);
        foreach (var file in Directory.EnumerateFiles(module, "*.tf*"))
        {
            File.Copy(file, Path.Combine(folder, Path.GetFileName(file)));
        }
        await File.WriteAllTextAsync(
            Path.Combine(folder, "rehearsal.auto.tfvars.json"), JsonSerializer.Serialize(variables), cancellationToken);
        var terraform = new Tool("terraform");
        await terraform.RunAsync(["-chdir=" + folder, "init", "-input=false", "-no-color"], cancellationToken);
        await terraform.RunAsync(
            ["-chdir=" + folder, "apply", "-auto-approve", "-input=false", "-no-color"], cancellationToken);
        return Read(await terraform.RunAsync(["-chdir=" + folder, "output", "-json"], cancellationToken));
    }

    /// <summary>Reads the output of <c>terraform output -json</c>.</summary>
    internal static Topology Read(string outputs)
    {
        using var json = JsonDocument.Parse(outputs);
        T Value<T>(string name) => json.RootElement.GetProperty(name).GetProperty("value").Deserialize<T>(SnakeCase)!;
        return new Topology(
            Value<Machine[]>("hosts"), Value<AccessRule[]>("rules"), Value<Dictionary<string, string>>("user_data"));
    }
}
