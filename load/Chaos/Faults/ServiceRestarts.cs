using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.Chaos.Faults;

/// <summary>Ends services and starts them again, as an orchestrator does.</summary>
internal sealed class ServiceRestarts(BillingStack stack, TimeProvider time, Action<string> say)
{
    private static readonly TimeSpan StopBound = TimeSpan.FromSeconds(30);

    /// <summary>Starts a service that has ended. One that starts while a broker or PostgreSQL is unavailable may fail,
    /// and is started again.</summary>
    public async Task StartAsync(ServiceRole role, int number, CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                await stack.AddAsync(role, number, cancellationToken);
                return;
            }
            catch (StackException e)
            {
                say(e.Message.Split('\n')[0]);
            }
        }
    }

    /// <summary>Stops a service with SIGTERM and starts it again.</summary>
    public async Task RestartAsync(ServiceProcess service, CancellationToken cancellationToken)
    {
        if (!await service.Process.StopAsync(StopBound))
        {
            say($"{service.Process.Name} did not stop within {StopBound.TotalSeconds:0} s and was killed");
        }
        await StartAsync(service.Role, service.Number, cancellationToken);
    }

    /// <summary>Kills a service, and each time that it is ready again, for a time.</summary>
    public async Task CrashAgainAndAgainAsync(
        ServiceProcess service, TimeSpan lasts, CancellationToken cancellationToken)
    {
        var start = time.GetTimestamp();
        do
        {
            stack.Of(service.Role).First(running => running.Number == service.Number).Process.Kill();
            await StartAsync(service.Role, service.Number, cancellationToken);
        }
        while (time.GetElapsedTime(start) < lasts);
    }
}
