namespace Billing.Measuring.Soaks;

/// <summary>Where what a soak found goes.</summary>
/// <param name="CommandLine">The command, for the report.</param>
/// <param name="Report">Where to write the report as JSON, with its page beside it; none if null.</param>
/// <param name="Logs">Folder to copy the processes' logs and the journal to; none if null.</param>
internal sealed record ChaosOutput(string CommandLine, string? Report, string? Logs);
