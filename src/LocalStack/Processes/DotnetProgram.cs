using System.Diagnostics;

namespace Billing.LocalStack.Processes;

/// <summary>How the programs of this repository are started.</summary>
public static class DotnetProgram
{
    /// <summary>The runtime's launcher: the one this program runs on, or, under a launcher of its own, the one on the PATH.
    /// </summary>
    public static string Launcher { get; } =
        Path.GetFileNameWithoutExtension(Environment.ProcessPath) == "dotnet" ? Environment.ProcessPath! : "dotnet";

    /// <summary>What of the .NET runtime's settings programs cannot bring themselves: a first generation of 128 MiB, in hexadecimal.
    /// Each program keeps thousands of calls in flight, and what lives as long as a call is better left alone than marked again and
    /// again. With twice as much a burst took no less time, and half of it spares memory.</summary>
    public static IReadOnlyDictionary<string, string> Settings { get; } = new Dictionary<string, string>
    {
        ["DOTNET_GCgen0size"] = "0x8000000",
    };

    /// <summary>How a program is started that this one talks to by its standard input: in a session of its own, so that Ctrl-C reaches
    /// this process alone, and with the parent-death signal, which takes it along however this one ends.</summary>
    /// <param name="project">The program's project.</param>
    /// <param name="arguments">Its command line.</param>
    public static ProcessStartInfo StartInfo(string project, IEnumerable<string> arguments)
    {
        var start = new ProcessStartInfo("setsid", ["setpriv", "--pdeathsig=KILL", Launcher, FileOf(project), .. arguments])
        {
            RedirectStandardInput = true,
        };
        foreach (var (variable, value) in Settings)
        {
            start.Environment[variable] = value;
        }
        return start;
    }

    /// <summary>A program's build output, beside this program's own.</summary>
    public static string FileOf(string project)
    {
        var own = new DirectoryInfo(AppContext.BaseDirectory);
        return Path.Combine(own.Parent!.Parent!.FullName, project, own.Name, project + ".dll");
    }
}
