namespace Billing.Rehearsal;

/// <summary>What a rehearsal does, and with what.</summary>
internal sealed record RehearsalOptions
{
    /// <summary>The repository's folder.</summary>
    public required string Repository { get; init; }

    /// <summary>Everything of the rehearsal goes there; whoever starts it deletes the folder.</summary>
    public required string Folder { get; init; }

    /// <summary>The file system that machines begin with, and the packages that they install from.</summary>
    public required string Image { get; init; }

    /// <summary>The release that is installed first.</summary>
    public required string Release { get; init; }

    /// <summary>The release that machines are upgraded to.</summary>
    public required string NextRelease { get; init; }

    /// <summary>Payments that each client sends at once.</summary>
    public required int Requests { get; init; }

    /// <summary>Payments per second of each client while something is done to the platform.</summary>
    public required int Rate { get; init; }

    /// <summary>How long a packet takes from one zone to another.</summary>
    public required TimeSpan ZoneDelay { get; init; }

    /// <summary>Where to write the figures as JSON; nowhere if null.</summary>
    public string? Report { get; init; }

    /// <summary>Where to keep logs, journals and the clients' reports; nowhere if null.</summary>
    public string? Logs { get; init; }
}
