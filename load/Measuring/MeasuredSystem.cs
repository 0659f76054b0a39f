using Billing.LocalStack;

namespace Billing.Measuring;

/// <summary>What a measurement runs on, and where its results go.</summary>
/// <param name="Stack">The stack to start, where there are no targets.</param>
/// <param name="Targets">Addresses of proxies that run already.</param>
/// <param name="Out">Folder for the results.</param>
/// <param name="CommandLine">The command, for the report.</param>
internal sealed record MeasuredSystem(StackOptions Stack, IReadOnlyList<string> Targets, string Out, string CommandLine);
