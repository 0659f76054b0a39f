using System.Diagnostics;

namespace Billing.LocalStack.Processes;

/// <summary>Starts the programs of this repository.</summary>
public static class DotnetProgram
{
    /// <summary>The <c>dotnet</c> launcher: the one that runs this program, else (if this program has its own
    /// executable) the one on the PATH.</summary>
    public static string Launcher { get; } =
        Path.GetFileNameWithoutExtension(Environment.ProcessPath) == "dotnet" ? Environment.ProcessPath! : "dotnet";

    /// <summary>Settings of the .NET runtime that programs cannot set themselves: a generation 0 of 128 MiB, in
    /// hexadecimal. Each program keeps thousands of calls in flight, and with a large generation 0 their objects are
    /// marked less often. With 256 MiB a burst was not faster, and 128 MiB needs less memory.</summary>
    public static IReadOnlyDictionary<string, string> Settings { get; } = new Dictionary<string, string>
    {
        ["DOTNET_GCgen0size"] = "0x8000000",
    };

    /// <summary>Returns how to start a program that is controlled by its standard input: in a separate session, so
    /// that Ctrl-C only reaches this process, and with the parent-death signal, so that it is killed when this process
    /// ends in whatever way.</summary>
    public static ProcessStartInfo StartInfo(string project, IEnumerable<string> arguments)
    {
        var start = new ProcessStartInfo(
            "setsid", ["setpriv", "--pdeathsig=KILL", Launcher, FileOf(project), .. arguments])
        {
            RedirectStandardInput = true,
        };
        foreach (var (variable, value) in Settings)
        {
            start.Environment[variable] = value;
        }
        return start;
    }

    /// <summary>Returns the path of a program in its build output, next to the build output of this program.</summary>
    public static string FileOf(string project)
    {
        var own = new DirectoryInfo(AppContext.BaseDirectory);
        return Path.Combine(own.Parent!.Parent!.FullName, project, own.Name, project + ".dll");
    }
}
