using Billing.Messaging.Hosting;
using Billing.Proxy.Health;
using Billing.Proxy.Limits;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Hosting;

/// <summary>The end of a proxy: it says that it is not serving, refuses new calls, tells the streams to end, and lets those
/// it has taken be answered, within bounds. All this before any service stops: the server, which stops first, would wait for
/// the open streams, and nobody would have told them.</summary>
public sealed class Drain(
    Admission admission, ServingState serving, IOptions<ProxyOptions> options, Supervisor supervisor, TimeProvider time)
    : IHostedLifecycleService, IReadyPart
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(20);

    private volatile string? _whyNotReady = "the proxy is starting";

    /// <inheritdoc/>
    public string? WhyNotReady => _whyNotReady;

    /// <inheritdoc/>
    public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Begins to serve: everything the proxy needs has started.</summary>
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

    /// <summary>Ends the service.</summary>
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
        // Where a loop has failed nobody can say that the answers will come.
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
