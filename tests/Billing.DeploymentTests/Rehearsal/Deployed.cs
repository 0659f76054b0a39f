using System.Text.Json.Nodes;
using Billing.Rehearsal.Machines;

namespace Billing.DeploymentTests.Rehearsal;

/// <summary>What the deployment's own files say.</summary>
internal static class Deployed
{
    /// <summary>The machines and rules by default.</summary>
    public static Topology Topology()
    {
        var kept = JsonNode.Parse(string.Join('\n', Repository.Lines("deploy/terraform/topology.json")))!.AsObject();
        kept["user_data"] = new JsonObject();
        return Billing.Rehearsal.Machines.Topology.Read(new JsonObject(
            kept.Select(output => KeyValuePair.Create<string, JsonNode?>(
                output.Key, new JsonObject { ["value"] = output.Value!.DeepClone() }))).ToJsonString());
    }

    /// <summary>Runs the script that makes secrets, with a folder.</summary>
    public static async Task<string> MakeSecretsAsync(string folder, params IEnumerable<string> arguments) =>
        (await ExternalTool.RunAsync(
            ExternalTool.Need("bash"), ["deploy/terraform/secrets.sh", "--folder", folder, .. arguments]))
        .Succeeded().Output;
}
