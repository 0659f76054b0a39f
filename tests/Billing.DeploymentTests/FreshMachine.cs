using System.Runtime.Versioning;

namespace Billing.DeploymentTests;

/// <summary>A copy of <c>./billing</c> that only has its scripts, on a simulated machine with the basic programs, a
/// fake SDK, and the programs that a test adds: with its own PATH and its own folder for the system's files.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class FreshMachine : IDisposable
{
    private const string Ordinary = "61234";

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("billing-machine-");
    private readonly BasicPrograms _basic;

    public FreshMachine(BasicPrograms basic)
    {
        _basic = basic;
        foreach (var file in Repository.Files("eng", "*").Append("billing"))
        {
            Write("clone/" + file, File.ReadAllText(System.IO.Path.Combine(Repository.Root, file)));
        }
        foreach (var file in new[] { "Directory.Packages.props", "Directory.Build.props", "Billing.sln" })
        {
            File.Copy(System.IO.Path.Combine(Repository.Root, file), At("clone/" + file));
        }
        foreach (var folder in new[]
        {
            "clone/src", "clone/load", "clone/polyfills", "clone/tests", "clone/examples",
            "clone/deploy", "home", "system", "bin", "working",
        })
        {
            Directory.CreateDirectory(At(folder));
        }
        AddProgram("dotnet", """
            case $1 in
              --version) echo 10.0.100; exit ;;
              --list-sdks) echo "10.0.100 [$MACHINE/sdk]"; exit ;;
              */VBCSCompiler.dll) exit ;;
            esac
            echo "$@" >>"$MACHINE/dotnet.log"
            case $1 in *.dll) echo "no_proxy=${no_proxy:-} NO_PROXY=${NO_PROXY:-}" >>"$MACHINE/dotnet.log" ;; esac
            """);
    }

    /// <summary>Where its programs are.</summary>
    public string Path => $"{At("bin")}:{_basic.Folder}";

    /// <summary>The command lines of all calls of the SDK.</summary>
    public IReadOnlyList<string> Builds => File.Exists(At("dotnet.log")) ? File.ReadAllLines(At("dotnet.log")) : [];

    /// <summary>Returns a path on the machine.</summary>
    public string At(string path) => System.IO.Path.Combine(_folder.FullName, path);

    /// <summary>Writes a file, and creates its folders.</summary>
    public void Write(string path, string content)
    {
        Directory.CreateDirectory(System.IO.Path.GetDirectoryName(At(path))!);
        File.WriteAllText(At(path), content);
    }

    /// <summary>Adds a shell script, to the PATH if the name has no folder; the variable MACHINE has the
    /// machine's folder.</summary>
    public void AddProgram(string name, string script)
    {
        var path = name.Contains('/', StringComparison.Ordinal) ? name : "bin/" + name;
        Write(path, "#!/bin/bash\n" + script + "\n");
        File.SetUnixFileMode(At(path), (UnixFileMode)0b111_101_101);
    }

    public void Remove(string program) => File.Delete(At("bin/" + program));

    /// <summary>Adds PostgreSQL's programs to a folder.</summary>
    public void AddPostgres(string folder, int version)
    {
        AddProgram(folder + "/initdb", "exit 0");
        AddProgram(folder + "/postgres", $"echo 'postgres (PostgreSQL) {version}.1'");
    }

    /// <summary>Runs <c>./billing</c> from another folder than its own.</summary>
    /// <param name="arguments">The command line.</param>
    /// <param name="environment">Variables of its environment, in addition to PATH and HOME.</param>
    /// <param name="times">How often, all at the same time; it fails if one of them does.</param>
    internal async Task<ToolResult> BillingAsync(
        string arguments, IReadOnlyDictionary<string, string>? environment = null, int times = 1)
    {
        if (Environment.IsPrivilegedProcess)
        {
            (await ExternalTool.RunAsync("chmod", ["-R", "a+rwX", _folder.FullName])).Succeeded();
        }
        // A user without rights.
        string[] user = Environment.IsPrivilegedProcess
            ? ["setpriv", "--reuid", Ordinary, "--regid", Ordinary, "--clear-groups"]
            : [];
        var variables = new Dictionary<string, string>(environment ?? new Dictionary<string, string>())
        {
            ["PATH"] = Path,
            ["HOME"] = At("home"),
            ["MACHINE"] = _folder.FullName,
        };
        variables.TryAdd("NBomberStandIn", "true");
        return await ExternalTool.RunAsync(
            "/usr/bin/env",
            [
                "-i", "-C", At("working"), .. variables.Select(v => $"{v.Key}={v.Value}"), .. user, "bash", "-c",
                $"for i in {{1..{times}}}; do bash {At("clone/billing")} {arguments} </dev/null & started+=($!); done; "
                    + "for one in ${started[@]}; do wait $one || failed=$?; done; exit ${failed:-0}",
            ]);
    }

    public void Dispose() => _folder.Delete(recursive: true);
}
