using Billing.Messaging.Hosting;
using Billing.Proxy;
using Billing.Proxy.Health;
using Billing.Proxy.Hosting;
using Billing.Proxy.Limits;
using Billing.UnitTests.Testing;
using Grpc.Core;
using Microsoft.Extensions.Options;
using static Billing.Contracts.Health.V1.HealthCheckResponse.Types;

namespace Billing.UnitTests.Proxy;

public sealed class DrainTests : IDisposable
{
    private readonly ManualTime _time = new();
    private readonly ServingState _serving = new();
    private readonly Supervisor _supervisor = Supervision.New();
    private readonly Admission _admission;
    private readonly Drain _drain;

    public DrainTests()
    {
        var options = Options.Create(new ProxyOptions { DrainTimeout = TimeSpan.FromSeconds(5) });
        _admission = Admissions.With(options.Value);
        _drain = new Drain(_admission, _serving, options, _supervisor, _time);
    }

    public void Dispose() => _admission.Dispose();

    [Theory]
    [InlineData("billing.v1.Billing")]
    [InlineData("billing.v1.BillingAdmin")]
    public async Task Each_service_is_reported_by_its_name(string service)
    {
        await _drain.StartedAsync(CancellationToken.None);
        Assert.Equal(ServingStatus.Serving, _serving.Find(service));
        await _drain.StoppingAsync(CancellationToken.None);
        Assert.Equal(ServingStatus.NotServing, _serving.Find(service));
    }

    [Fact]
    public async Task A_proxy_serves_from_its_start_to_its_stop()
    {
        Assert.Equal(ServingStatus.NotServing, _serving.Find(""));
        await _drain.StartedAsync(CancellationToken.None);
        Assert.Equal(ServingStatus.Serving, _serving.Find(""));
        await _drain.StoppingAsync(CancellationToken.None);
        Assert.Equal(ServingStatus.NotServing, _serving.Find(""));
        Assert.Throws<RpcException>(() => _admission.Enter(Admissions.Caller, "acct-1"));
    }

    [Fact]
    public async Task A_stop_does_not_wait_for_calls_after_a_loop_has_failed()
    {
        var call = _admission.Enter(Admissions.Caller, "acct-1");
        _supervisor.Fail("replies", new IOException());
        await _drain.StoppingAsync(CancellationToken.None);
        Assert.Equal(1, _admission.InFlight);
        call.Dispose();
    }

    [Fact]
    public async Task A_stop_waits_for_the_calls_in_flight()
    {
        var call = _admission.Enter(Admissions.Caller, "acct-1");
        var stopping = _drain.StoppingAsync(CancellationToken.None);
        Assert.False(stopping.IsCompleted);
        call.Dispose();
        await _time.RunToEndAsync(stopping);
        Assert.Equal(0, _admission.InFlight);
    }

    [Fact]
    public async Task A_stop_waits_no_longer_than_the_drain_timeout()
    {
        using var call = _admission.Enter(Admissions.Caller, "acct-1");
        await _time.RunToEndAsync(_drain.StoppingAsync(CancellationToken.None));
        Assert.Equal(1, _admission.InFlight);
    }
}
