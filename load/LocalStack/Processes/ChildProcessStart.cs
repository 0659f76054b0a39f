namespace Billing.LocalStack.Processes;

/// <summary>A program to start.</summary>
/// <param name="Name">The program's name within the stack, for messages.</param>
/// <param name="Program">Its path, or a name that is searched for on the PATH.</param>
/// <param name="Arguments">Its arguments, passed on unchanged.</param>
/// <param name="LogFile">The file to which its standard output and standard error are appended.</param>
public sealed record ChildProcessStart(
    string Name,
    string Program,
    IReadOnlyList<string> Arguments,
    string LogFile)
{
    /// <summary>Environment variables in addition to the inherited ones; a null value removes a variable.</summary>
    public IReadOnlyDictionary<string, string?> Environment { get; init; } = new Dictionary<string, string?>();

    /// <summary>The working directory; the log's folder if null.</summary>
    public string? WorkingDirectory { get; init; }

    /// <summary>The account to run under; this process's account if null. Only root may use another one.</summary>
    public ServiceAccount? Account { get; init; }

    /// <summary>The signal that stops the program.</summary>
    public Signal StopSignal { get; init; } = Signal.Terminate;

    /// <summary>The signal that the program receives when this process ends, in whatever way.</summary>
    public Signal OrphanSignal { get; init; } = Signal.Kill;

    /// <summary>Whether the program keeps running when this process ends.</summary>
    public bool Detached { get; init; }
}
