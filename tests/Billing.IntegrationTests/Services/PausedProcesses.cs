using Billing.LocalStack.Processes;

namespace Billing.IntegrationTests.Services;

/// <summary>Pauses processes until it is disposed.</summary>
public sealed class PausedProcesses : IDisposable
{
    private readonly IReadOnlyList<ChildProcess> _processes;

    public PausedProcesses(IReadOnlyList<ChildProcess> processes)
    {
        _processes = processes;
        foreach (var process in processes)
        {
            process.Pause();
        }
    }

    public void Dispose()
    {
        foreach (var process in _processes)
        {
            process.Resume();
        }
    }
}
