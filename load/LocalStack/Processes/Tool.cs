using System.Diagnostics;

namespace Billing.LocalStack.Processes;

/// <summary>Runs a program of this machine until it ends.</summary>
/// <param name="before">Arguments before those of each run.</param>
public sealed class Tool(string name, params string[] before)
{
    private const int LinesInMessages = 20;

    /// <summary>The folder that it runs in; the folder of this process if null.</summary>
    public string? Folder { get; init; }

    /// <summary>Environment variables in addition to those of this process.</summary>
    public IReadOnlyDictionary<string, string> Environment { get; init; } = new Dictionary<string, string>();

    /// <summary>Returns the path of a program that is installed on this machine, or null.</summary>
    /// <param name="path">The folders to search, separated by colons; null for this process's PATH.</param>
    public static string? Find(string program, string? path = null) =>
        (path ?? System.Environment.GetEnvironmentVariable("PATH") ?? string.Empty)
            .Split(Path.PathSeparator).Where(Path.IsPathRooted).Select(folder => Path.Combine(folder, program))
            .FirstOrDefault(File.Exists);

    /// <summary>Runs the program.</summary>
    /// <returns>Its standard output.</returns>
    /// <exception cref="StackException">It failed; the message contains the last lines of its output.</exception>
    public async Task<string> RunAsync(
        IEnumerable<string> arguments, CancellationToken cancellationToken, string? input = null)
    {
        var (exitCode, output, errors) = await TryAsync(arguments, cancellationToken, input);
        if (exitCode == 0)
        {
            return output;
        }
        var last = (errors.Length > 0 ? errors : output).TrimEnd().Split('\n').TakeLast(LinesInMessages);
        throw new StackException(
            $"{name} {string.Join(' ', before.Concat(arguments))} failed with exit code {exitCode}: "
            + $"{string.Join('\n', last)}");
    }

    /// <summary>Runs the program and returns its exit code and output.</summary>
    public async Task<(int ExitCode, string Output, string Errors)> TryAsync(
        IEnumerable<string> arguments, CancellationToken cancellationToken, string? input = null)
    {
        var start = StartInfo(arguments);
        start.RedirectStandardInput = start.RedirectStandardOutput = start.RedirectStandardError = true;
        using var process = ChildProcess.Launch(start);
        try
        {
            var output = process.StandardOutput.ReadToEndAsync(cancellationToken);
            var errors = process.StandardError.ReadToEndAsync(cancellationToken);
            if (input is not null)
            {
                await process.StandardInput.WriteAsync(input.AsMemory(), cancellationToken);
            }
            process.StandardInput.Close();
            await process.WaitForExitAsync(cancellationToken);
            return (process.ExitCode, await output, await errors);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            throw;
        }
    }

    /// <summary>Runs the program with the input and output of this process. If this process ends in whatever way,
    /// the program is killed.</summary>
    /// <param name="cancellationToken">Asks it to end (SIGTERM), and waits until it has.</param>
    /// <returns>Its exit code.</returns>
    public async Task<int> PassThroughAsync(IEnumerable<string> arguments, CancellationToken cancellationToken)
    {
        var guarded =
            new Tool("setpriv", ["--pdeathsig=KILL", name, .. before]) { Folder = Folder, Environment = Environment };
        using var process = ChildProcess.Launch(guarded.StartInfo(arguments));
        using var stop = cancellationToken.Register(() => NativeMethods.Send(process.Id, Signal.Terminate));
        await process.WaitForExitAsync(CancellationToken.None);
        return process.ExitCode;
    }

    /// <summary>Runs the program with its output at the end of a file, which works even if it leaves
    /// processes behind.</summary>
    /// <returns>Its exit code.</returns>
    public async Task<int> LogAsync(IEnumerable<string> arguments, string log, CancellationToken cancellationToken)
    {
        var shell = new Tool("sh", ["-c", "exec \"$@\" >>\"$0\" 2>&1", log, name, .. before])
        {
            Folder = Folder,
            Environment = Environment,
        };
        return (await shell.TryAsync(arguments, cancellationToken)).ExitCode;
    }

    private ProcessStartInfo StartInfo(IEnumerable<string> arguments)
    {
        var start = new ProcessStartInfo(name, [.. before, .. arguments]) { WorkingDirectory = Folder ?? string.Empty };
        foreach (var (variable, value) in Environment)
        {
            start.Environment[variable] = value;
        }
        return start;
    }
}
