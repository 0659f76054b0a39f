using System.Collections.Concurrent;
using Billing.LocalStack;

namespace Billing.Chaos.Faults;

/// <summary>Which of two releases each service runs: the present one, until it changes over. Thread-safe.</summary>
/// <param name="other">The folder of the other release's programs; null if there is only the present one.</param>
internal sealed class ReleaseTurns(string? other)
{
    private readonly ConcurrentDictionary<(ServiceRole, int), string?> _programs = new();

    /// <summary>The folder of the programs of a service's release; null for the present one.</summary>
    public string? ProgramsOf(ServiceRole role, int number) => _programs.GetValueOrDefault((role, number));

    /// <summary>Has a service change over to the release that it does not run.</summary>
    public void Change(ServiceRole role, int number) =>
        _programs.AddOrUpdate((role, number), _ => other, (_, programs) => programs is null ? other : null);
}
