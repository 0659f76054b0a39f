namespace Billing.Rehearsal;

/// <summary>The options of a rehearsal.</summary>
internal sealed record RehearsalOptions
{
    /// <summary>The repository's folder.</summary>
    public required string Repository { get; init; }

    /// <summary>The folder for all files of the rehearsal; the process that starts it deletes the folder.</summary>
    public required string Folder { get; init; }

    /// <summary>The folder with the machines' initial file system and the packages to install.</summary>
    public required string Image { get; init; }

    /// <summary>The release that is installed first.</summary>
    public required string Release { get; init; }

    /// <summary>The release that machines are upgraded to.</summary>
    public required string NextRelease { get; init; }

    /// <summary>Number of payments that each client sends at once.</summary>
    public required int Requests { get; init; }

    /// <summary>Payments per second of each client during operations on the platform.</summary>
    public required int Rate { get; init; }

    /// <summary>Latency of a packet from one zone to another.</summary>
    public required TimeSpan ZoneDelay { get; init; }

    /// <summary>File for the figures as JSON; null for none.</summary>
    public string? Report { get; init; }

    /// <summary>Folder for logs, journals and the clients' reports; null for none.</summary>
    public string? Logs { get; init; }
}
