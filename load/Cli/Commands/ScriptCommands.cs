using System.CommandLine;

namespace Billing.Cli.Commands;

/// <summary>The commands that the script <c>./billing</c> runs itself.</summary>
internal static class ScriptCommands
{
    public static IEnumerable<Command> Create() => [Package()];

    private static Command Package() => new(
        "package", "Creates the archives that machines and images are installed from, and the NuGet packages of the SDK.")
    {
        new Option<string>("--version") { Description = "Version of the release (SemVer); by default Version in Directory.Build.props", HelpName = "V" },
        new Option<string>("--architectures") { Description = "linux-x64, linux-arm64 or both, separated by a comma; by default those that can be built here", HelpName = "LIST" },
        new Option<string>("--output") { Description = "Folder of the release, by default artifacts/release/V; an earlier release in it is replaced", HelpName = "FOLDER" },
        new Option<bool>("--check") { Description = "Package the release again, from a clone in another folder, and compare the bytes" },
    };
}
