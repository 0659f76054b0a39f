namespace Billing.LocalStack.Processes;

/// <summary>What to start, and how.</summary>
/// <param name="Name">The program's name within the stack, for messages.</param>
/// <param name="Program">Its path, or a name to be found on the PATH.</param>
/// <param name="Arguments">Its arguments, passed on as they are.</param>
/// <param name="LogFile">Where its output goes, standard and error; appended to.</param>
public sealed record ChildProcessStart(
    string Name,
    string Program,
    IReadOnlyList<string> Arguments,
    string LogFile)
{
    /// <summary>Variables to set beside the inherited ones; a null value removes one.</summary>
    public IReadOnlyDictionary<string, string?> Environment { get; init; } = new Dictionary<string, string?>();

    /// <summary>The folder to start in; the log's folder when absent.</summary>
    public string? WorkingDirectory { get; init; }

    /// <summary>The account to run under; this process's own when absent. Only root may name another.</summary>
    public ServiceAccount? Account { get; init; }

    /// <summary>What asks the program to end.</summary>
    public Signal StopSignal { get; init; } = Signal.Terminate;

    /// <summary>What the program is sent when this process ends, however it ends.</summary>
    public Signal OrphanSignal { get; init; } = Signal.Kill;

    /// <summary>Whether the program goes on when this process ends.</summary>
    public bool Detached { get; init; }
}
