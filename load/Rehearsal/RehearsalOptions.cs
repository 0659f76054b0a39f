namespace Billing.Rehearsal;

/// <summary>The options of a rehearsal.</summary>
/// <param name="Repository">The repository's folder.</param>
/// <param name="Folder">The folder for all files of the rehearsal; the process that starts it
/// deletes the folder.</param>
/// <param name="Image">The folder with the machines' initial file system and the packages to install.</param>
/// <param name="Release">The release that is installed first.</param>
/// <param name="NextRelease">The release that machines are upgraded to.</param>
/// <param name="Requests">Number of payments that each client sends at once.</param>
/// <param name="Rate">Payments per second of each client during operations on the platform.</param>
/// <param name="ZoneDelay">Latency of a packet from one zone to another.</param>
/// <param name="Micro">Whether machines have no credits left once they are installed.</param>
/// <param name="IsShort">Whether it has only growth, databases that are added, secrets that are replaced and
/// machines that burn.</param>
/// <param name="Report">File for the figures as JSON; null for none.</param>
/// <param name="Logs">Folder for logs, journals and the clients' reports; null for none.</param>
internal sealed record RehearsalOptions(
    string Repository, string Folder, string Image, string Release, string NextRelease, int Requests, int Rate,
    TimeSpan ZoneDelay, bool Micro, bool IsShort, string? Report, string? Logs);
