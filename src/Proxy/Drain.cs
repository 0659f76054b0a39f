using Billing.Proxy.Health;
using Microsoft.Extensions.Options;

namespace Billing.Proxy;

/// <summary>The end of a proxy: it says that it is not serving, refuses new calls, and lets those it has taken be answered,
/// within bounds. Registered last, so that it stops first.</summary>
public sealed class Drain(
    Admission admission, ServingState serving, IOptions<ProxyOptions> options, TimeProvider time) : IHostedService
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(20);

    /// <summary>Begins to serve: everything the proxy needs has started before.</summary>
    public Task StartAsync(CancellationToken cancellationToken)
    {
        serving.SetServing();
        foreach (var service in ProxyServices.PublicServices)
        {
            serving.SetServing(service.FullName);
        }
        return Task.CompletedTask;
    }

    /// <summary>Ends the service.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        serving.SetNotServing();
        foreach (var service in ProxyServices.PublicServices)
        {
            serving.SetNotServing(service.FullName);
        }
        admission.Close();
        var start = time.GetTimestamp();
        while (admission.InFlight > 0 && time.GetElapsedTime(start) < options.Value.DrainTimeout)
        {
            await Task.Delay(PollInterval, time, cancellationToken);
        }
    }
}
