using Billing.LocalStack;

namespace Billing.Measuring.Processes;

/// <summary>The programs of a stack, for measuring their processor time.</summary>
internal static class Programs
{
    /// <summary>Lists each running program under the name of its role: <c>proxy</c>, <c>payments</c>, <c>balances</c>,
    /// <c>backend</c>, <c>kafka</c>, <c>postgres</c>.</summary>
    public static IReadOnlyCollection<(string Name, int ProcessId)> Of(BillingStack stack) =>
        [.. stack.Processes.Where(p => !p.HasExited).Select(p => (Role(p.Name), p.Id))];

    /// <summary>Returns the role of a program from its name in the stack.</summary>
    public static string Role(string name) =>
        name.StartsWith("Kafka", StringComparison.Ordinal) ? "kafka"
            : name.LastIndexOf('-') is var dash and > 0 ? name[..dash]
            : name;
}
