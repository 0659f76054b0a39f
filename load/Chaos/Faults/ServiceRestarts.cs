using System.Collections.Concurrent;
using System.Globalization;
using Billing.LocalStack;
using Billing.LocalStack.Processes;

namespace Billing.Chaos.Faults;

/// <summary>Ends services and starts them again, as an orchestrator does.</summary>
/// <param name="stack">The stack of the services.</param>
/// <param name="otherPrograms">The folder of the programs of another release; null if there is none.</param>
/// <param name="time">The clock.</param>
/// <param name="say">Gets what happens.</param>
internal sealed class ServiceRestarts(
    BillingStack stack, string? otherPrograms, TimeProvider time, Action<string> say)
{
    private static readonly TimeSpan StopBound = TimeSpan.FromSeconds(30);

    // What a service is started with until its clock is right again.
    private readonly ConcurrentDictionary<(ServiceRole, int), IReadOnlyDictionary<string, string>> _wrongClocks = new();

    private readonly ReleaseTurns _releases = new(otherPrograms);

    /// <summary>Whether the clock of a service is wrong.</summary>
    public bool HasWrongClock(ServiceProcess service) => _wrongClocks.ContainsKey((service.Role, service.Number));

    /// <summary>Starts a service that has ended. One that starts while a broker or PostgreSQL is unavailable may fail,
    /// and is started again.</summary>
    public async Task StartAsync(ServiceRole role, int number, CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                await stack.AddAsync(
                    role, number, cancellationToken, _wrongClocks.GetValueOrDefault((role, number)),
                    _releases.ProgramsOf(role, number));
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

    /// <summary>Restarts a service with the other release, if there is one: an upgrade, or its rollback.</summary>
    public Task ChangeReleaseAsync(ServiceProcess service, CancellationToken cancellationToken)
    {
        _releases.Change(service.Role, service.Number);
        return RestartAsync(service, cancellationToken);
    }

    /// <summary>Restarts a service with a clock that is off, which it keeps.</summary>
    public async Task SetClockWrongAsync(ServiceProcess service, TimeSpan off, CancellationToken cancellationToken)
    {
        var clock = await PreloadedLibrary.SteppingClockAsync(stack.Folder, cancellationToken);
        clock.Set((long)off.TotalSeconds);
        _wrongClocks[(service.Role, service.Number)] = clock.Settings;
        say(string.Create(
            CultureInfo.InvariantCulture, $"the clock of {service.Process.Name} is off by {off.TotalHours:+0;-0} h"));
        await RestartAsync(service, cancellationToken);
    }

    /// <summary>Restarts a service with a clock that is right.</summary>
    public Task SetClockRightAsync(ServiceProcess service, CancellationToken cancellationToken)
    {
        _wrongClocks.TryRemove((service.Role, service.Number), out _);
        return RestartAsync(service, cancellationToken);
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
