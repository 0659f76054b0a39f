using Billing.LocalStack.Processes;

namespace Billing.Cli.Setup;

/// <summary>The clone of the repository that <c>./billing</c> was started in.</summary>
/// <param name="State">The folder in it for files that outlive a command.</param>
/// <param name="Cache">The folder for files that all clones share.</param>
/// <param name="PackageAnswer">The properties for builds that say which packages the registry has.</param>
internal sealed record Workspace(string Root, string State, string Cache, string PackageAnswer)
{
    private static readonly string[] Variables =
    [
        "BILLING_ROOT", "BILLING_STATE", "BILLING_CACHE", "BILLING_PACKAGE_ANSWER",
    ];

    /// <summary>Reads the environment variables that the script <c>./billing</c> sets.</summary>
    public static Workspace FromEnvironment() =>
        new(Variable(Variables[0]), Variable(Variables[1]), Variable(Variables[2]), Variable(Variables[3]));

    /// <summary>Whether the script started this program, and not the user or another program.</summary>
    public static bool IsThere => Variables.All(name => Environment.GetEnvironmentVariable(name) is { Length: > 0 });

    private static string Variable(string name) => Environment.GetEnvironmentVariable(name) is { Length: > 0 } value
        ? value
        : throw new StackException(
            $"{name} is not set: this command needs a clone of the repository and its script ./billing");
}
