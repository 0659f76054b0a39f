using System.Text.Json;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Machines;

/// <summary>A machine of the topology.</summary>
/// <param name="Name">Its name, such as <c>proxy-1</c>.</param>
/// <param name="Tier">What it becomes.</param>
/// <param name="Zone">Where it stands.</param>
/// <param name="Address">Its IPv4 address.</param>
/// <param name="Environment">The variables of its <c>/etc/billing/host.env</c>.</param>
internal sealed record Machine(string Name, string Tier, string Zone, string Address, IReadOnlyDictionary<string, string> Environment);

/// <summary>Who may open a connection to whom: tiers, or <c>callers</c> and <c>load-balancer</c>, which the rehearsal lacks.</summary>
internal sealed record AccessRule(string From, string To, int Port);

/// <summary>Which machines there are, who may call whom, and what each runs at its first start: the outputs of
/// deploy/terraform/modules/topology.</summary>
/// <param name="Machines">All machines, in the order of the tiers.</param>
/// <param name="Rules">What the security groups allow.</param>
/// <param name="UserData">The script of each machine, by its name.</param>
internal sealed record Topology(
    IReadOnlyList<Machine> Machines, IReadOnlyList<AccessRule> Rules, IReadOnlyDictionary<string, string> UserData)
{
    private static readonly JsonSerializerOptions SnakeCase = new() { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };

    /// <summary>The machines of a tier.</summary>
    public IEnumerable<Machine> Tier(string tier) => Machines.Where(machine => machine.Tier == tier);

    /// <summary>A machine by its name.</summary>
    public Machine this[string name] => Machines.First(machine => machine.Name == name);

    /// <summary>Applies the module, which needs no provider and changes nothing, in a copy of its own.</summary>
    /// <param name="module">The folder deploy/terraform/modules/topology.</param>
    /// <param name="folder">Where the copy goes; it must not exist.</param>
    /// <param name="variables">The module's variables, values as in a variables file in JSON.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="StackException">Terraform is missing or refuses.</exception>
    public static async Task<Topology> PlanAsync(
        string module, string folder, IReadOnlyDictionary<string, object> variables, CancellationToken cancellationToken)
    {
        Directory.CreateDirectory(folder);
        foreach (var file in Directory.EnumerateFiles(module, "*.tf*"))
        {
            File.Copy(file, Path.Combine(folder, Path.GetFileName(file)));
        }
        await File.WriteAllTextAsync(Path.Combine(folder, "rehearsal.auto.tfvars.json"), JsonSerializer.Serialize(variables), cancellationToken);
        var terraform = new Tool("terraform");
        await terraform.RunAsync(["-chdir=" + folder, "init", "-input=false", "-no-color"], cancellationToken);
        await terraform.RunAsync(["-chdir=" + folder, "apply", "-auto-approve", "-input=false", "-no-color"], cancellationToken);
        return Read(await terraform.RunAsync(["-chdir=" + folder, "output", "-json"], cancellationToken));
    }

    /// <summary>Reads what <c>terraform output -json</c> prints.</summary>
    internal static Topology Read(string outputs)
    {
        using var json = JsonDocument.Parse(outputs);
        T Value<T>(string name) => json.RootElement.GetProperty(name).GetProperty("value").Deserialize<T>(SnakeCase)!;
        return new Topology(
            Value<Machine[]>("hosts"), Value<AccessRule[]>("rules"), Value<Dictionary<string, string>>("user_data"));
    }
}
