using Billing.Messaging.Hosting;
using Billing.Proxy.Health;
using Billing.Proxy.Limits;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Hosting;

/// <summary>Drains the proxy at shutdown: reports that it is not serving, refuses new calls, signals the streams to end, and
/// waits, within a timeout, until the admitted calls are answered. This happens before any hosted service stops: the server
/// stops first, and would wait for open streams that nobody has signalled to end.</summary>
public sealed class Drain(
    Admission admission, ServingState serving, IOptions<ProxyOptions> options, Supervisor supervisor, TimeProvider time)
    : IHostedLifecycleService, IReadyPart
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(20);

    private volatile string? _whyNotReady = "the proxy is starting";

    /// <inheritdoc/>
    public string? NotReadyReason => _whyNotReady;

    /// <inheritdoc/>
    public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Reports that the proxy is serving: everything it needs has started.</summary>
    public Task StartedAsync(CancellationToken cancellationToken)
    {
        _whyNotReady = null;
        serving.SetServing();
        foreach (var service in ProxyServices.PublicServices)
        {
            serving.SetServing(service.FullName);
        }
        return Task.CompletedTask;
    }

    /// <summary>Refuses new calls and waits for those in flight.</summary>
    public async Task StoppingAsync(CancellationToken cancellationToken)
    {
        _whyNotReady = "the proxy is shutting down";
        serving.SetNotServing();
        foreach (var service in ProxyServices.PublicServices)
        {
            serving.SetNotServing(service.FullName);
        }
        admission.Close();
        var start = time.GetTimestamp();
        // If a worker has failed, the answers may never come: the wait ends.
        while (admission.InFlight > 0 && supervisor.IsHealthy && time.GetElapsedTime(start) < options.Value.DrainTimeout)
        {
            await Task.Delay(PollInterval, time, cancellationToken);
        }
    }

    /// <inheritdoc/>
    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
