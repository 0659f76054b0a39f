using Billing.Hosting;
using Billing.Proxy;
using Billing.Proxy.Hosting;
using Billing.Proxy.Limits;
using Billing.UnitTests.Testing;
using Grpc.HealthCheck;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Proxy;

public sealed class DrainTests : IDisposable
{
    private readonly ManualTime _time = new();
    private readonly Supervisor _supervisor = Supervision.New();
    private readonly Admission _admission;
    private readonly Drain _drain;

    public DrainTests()
    {
        var options = Options.Create(new ProxyOptions { DrainTimeout = TimeSpan.FromSeconds(5) });
        _admission = Admissions.With(options.Value);
        _drain = new Drain(_admission, new HealthServiceImpl(), options, _supervisor, _time);
    }

    public void Dispose() => _admission.Dispose();

    [Fact]
    public async Task A_proxy_serves_from_its_start_to_its_stop()
    {
        Assert.Equal(HealthStatus.Unhealthy, await HealthAsync());
        await _drain.StartedAsync(CancellationToken.None);
        Assert.Equal(HealthStatus.Healthy, await HealthAsync());
        await _drain.StoppingAsync(CancellationToken.None);
        Assert.Equal(HealthStatus.Unhealthy, await HealthAsync());
        Assert.NotNull(_admission.Enter(Admissions.Caller).Failure);
    }

    [Fact]
    public async Task A_stop_does_not_wait_for_calls_after_a_loop_has_failed()
    {
        var call = _admission.Enter(Admissions.Caller).Value;
        _supervisor.Fail("replies", new IOException());
        await _drain.StoppingAsync(CancellationToken.None);
        Assert.Equal(1, _admission.InFlight);
        call.Dispose();
    }

    [Fact]
    public async Task A_stop_waits_for_the_calls_in_flight()
    {
        var call = _admission.Enter(Admissions.Caller).Value;
        var stopping = _drain.StoppingAsync(CancellationToken.None);
        Assert.False(stopping.IsCompleted);
        call.Dispose();
        await _time.RunToEndAsync(stopping);
        Assert.Equal(0, _admission.InFlight);
    }

    [Fact]
    public async Task A_stop_waits_no_longer_than_the_drain_timeout()
    {
        using var call = _admission.Enter(Admissions.Caller).Value;
        await _time.RunToEndAsync(_drain.StoppingAsync(CancellationToken.None));
        Assert.Equal(1, _admission.InFlight);
    }

    private async Task<HealthStatus> HealthAsync() => (await _drain.CheckHealthAsync(new HealthCheckContext())).Status;
}
