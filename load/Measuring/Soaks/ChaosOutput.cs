namespace Billing.Measuring.Soaks;

/// <summary>The output of a soak test.</summary>
/// <param name="CommandLine">The command, for the report.</param>
/// <param name="Report">The file to write the report to as JSON, with its page next to it; null for none.</param>
/// <param name="Logs">The folder to copy the processes' logs and the journal to; null for none.</param>
internal sealed record ChaosOutput(string CommandLine, string? Report, string? Logs);
