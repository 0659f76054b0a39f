using Billing.LocalStack;

namespace Billing.Measuring;

/// <summary>The system that a measurement loads, and the folder of its results.</summary>
/// <param name="Stack">The stack to start if there are no targets.</param>
/// <param name="Targets">Addresses of proxies that are already running.</param>
/// <param name="Out">Folder for the results.</param>
/// <param name="CommandLine">The command, for the report.</param>
internal sealed record MeasuredSystem(
    StackOptions Stack, IReadOnlyList<string> Targets, string Out, string CommandLine);
