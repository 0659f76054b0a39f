using Billing.Hosting;
using Billing.Proxy.Limits;
using Grpc.HealthCheck;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Options;
using static Grpc.Health.V1.HealthCheckResponse.Types;

namespace Billing.Proxy.Hosting;

/// <summary>Drains the proxy at shutdown: reports that it is not serving, refuses new calls, signals the streams to
/// end, and waits, within a timeout, until the admitted calls are answered. This happens before any hosted service
/// stops: the server stops first, and would wait for open streams that nobody has signalled to end.</summary>
internal sealed class Drain(
    Admission admission, HealthServiceImpl health,
    IOptions<ProxyOptions> options, Supervisor supervisor, TimeProvider time)
    : IHostedLifecycleService, IReadyPart, IHealthCheck
{
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(20);

    private volatile string? _whyNotReady = "the proxy is starting";

    public string? NotReadyReason => _whyNotReady;

    /// <summary>What the gRPC health service answers.</summary>
    public Task<HealthCheckResult> CheckHealthAsync(
        HealthCheckContext context, CancellationToken cancellationToken = default) =>
        Task.FromResult(_whyNotReady is { } why ? HealthCheckResult.Unhealthy(why) : HealthCheckResult.Healthy());

    public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Reports that the proxy is serving: everything it needs has started.</summary>
    public Task StartedAsync(CancellationToken cancellationToken)
    {
        _whyNotReady = null;
        Report(ServingStatus.Serving);
        return Task.CompletedTask;
    }

    public async Task StoppingAsync(CancellationToken cancellationToken)
    {
        _whyNotReady = "the proxy is shutting down";
        Report(ServingStatus.NotServing);
        admission.Close();
        var start = time.GetTimestamp();
        // If a worker has failed, the answers may never come: the wait ends.
        while (admission.InFlight > 0 && supervisor.IsHealthy
            && time.GetElapsedTime(start) < options.Value.DrainTimeout)
        {
            await Task.Delay(PollInterval, time, cancellationToken);
        }
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    // To those who watch: the library asks for the state only every half minute.
    private void Report(ServingStatus status)
    {
        health.SetStatus("", status);
        foreach (var service in ProxyServices.PublicServices)
        {
            health.SetStatus(service.FullName, status);
        }
    }
}
