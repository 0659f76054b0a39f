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

    /// <summary>The control group that it is in from its first instruction on; that of this process if null.</summary>
    public ControlGroup? Group { get; init; }

    /// <summary>The signal that stops the program.</summary>
    public Signal StopSignal { get; init; } = Signal.Terminate;

    /// <summary>The signal that the program receives when this process ends, in whatever way.</summary>
    public Signal OrphanSignal { get; init; } = Signal.Kill;

    /// <summary>Whether the program keeps running when this process ends.</summary>
    public bool Detached { get; init; }
}

/// <summary>An unprivileged account of this machine, for servers that refuse to run as root.</summary>
public sealed record ServiceAccount(string Name, uint UserId, uint GroupId)
{
    /// <summary>
    /// Returns the account to run PostgreSQL under: null for an ordinary user, who can run it directly;
    /// for root, "postgres" if it exists, else "nobody".</summary>
    /// <exception cref="StackException">This process runs as root, and the machine has neither account.</exception>
    public static ServiceAccount? ForPostgres() => !Environment.IsPrivilegedProcess
        ? null
        : Find("postgres") ?? Find("nobody") ?? throw new StackException(
            "PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it under");

    private static ServiceAccount? Find(string name) => (
        from line in File.ReadLines("/etc/passwd")
        let fields = line.Split(':')
        where fields.Length >= 4 && fields[0] == name
        select new ServiceAccount(name, uint.Parse(fields[2]), uint.Parse(fields[3]))).FirstOrDefault();
}
