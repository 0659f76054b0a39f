using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Net.Client;
using static Grpc.Health.V1.HealthCheckResponse.Types;

namespace Billing.UnitTests.Proxy;

public sealed class HealthTests
{
    [Theory]
    [InlineData("")]
    [InlineData("billing.v1.BillingService")]
    [InlineData("billing.v1.BillingAdminService")]
    public async Task A_watch_of_a_service_reports_that_it_serves_and_ends_with_NOT_SERVING_when_the_proxy_stops(
        string service)
    {
        await using var proxy = await ProxyHost.StartAsync(new FakeBackend());
        using var channel = GrpcChannel.ForAddress(proxy.Address);
        var health = new Health.HealthClient(channel);
        using var watch = health.Watch(new HealthCheckRequest { Service = service });

        Assert.Equal(
            ServingStatus.Serving, (await health.CheckAsync(new HealthCheckRequest { Service = service })).Status);
        await watch.ResponseStream.MoveNext(CancellationToken.None);
        var first = watch.ResponseStream.Current.Status;
        var reading = LastAsync(watch.ResponseStream);
        await proxy.StopAsync();

        Assert.Equal((ServingStatus.Serving, ServingStatus.NotServing), (first, await reading));
    }

    [Fact]
    public async Task An_address_has_so_many_watches_open_and_no_more_and_its_payments_go_on()
    {
        await using var proxy = await ProxyHost.StartAsync(
            new FakeBackend(),
            settings: new Dictionary<string, string?> { ["Billing:Limits:AnonymousCallsPerAddress"] = "3" });
        using var channel = GrpcChannel.ForAddress(proxy.Address);
        var health = new Health.HealthClient(channel);
        var watches = Enumerable.Range(0, 3).Select(_ => health.Watch(new HealthCheckRequest())).ToList();
        foreach (var watch in watches)
        {
            Assert.True(await watch.ResponseStream.MoveNext(CancellationToken.None));
        }

        using var late = health.Watch(new HealthCheckRequest());
        var refused = await Assert.ThrowsAsync<RpcException>(
            () => late.ResponseStream.MoveNext(CancellationToken.None));
        var check = await Assert.ThrowsAsync<RpcException>(
            () => health.CheckAsync(new HealthCheckRequest()).ResponseAsync);

        Assert.All([refused, check], e => Assert.Equal(
            (StatusCode.ResourceExhausted, ErrorReasons.CallerLimitReached), (e.StatusCode, e.Reason())));
        Assert.Equal(PaymentOutcome.Accepted, (await proxy.Client.MakePaymentAsync(Samples.Payment())).Outcome);
        watches.ForEach(watch => watch.Dispose());
        while (await Record.ExceptionAsync(() => health.CheckAsync(new HealthCheckRequest()).ResponseAsync) is not null)
        {
            // The proxy learns of the end of the watches a little later.
            await Task.Yield();
        }
    }

    [Fact]
    public async Task An_unknown_service_is_NOT_FOUND()
    {
        await using var proxy = await ProxyHost.StartAsync(new FakeBackend());
        using var channel = GrpcChannel.ForAddress(proxy.Address);

        var failure = await Assert.ThrowsAsync<RpcException>(
            () => new Health.HealthClient(channel)
                .CheckAsync(new HealthCheckRequest { Service = "other" }).ResponseAsync);

        Assert.Equal(StatusCode.NotFound, failure.StatusCode);
    }

    private static async Task<ServingStatus> LastAsync(IAsyncStreamReader<HealthCheckResponse> watch)
    {
        var last = ServingStatus.Unknown;
        while (await watch.MoveNext(CancellationToken.None))
        {
            last = watch.Current.Status;
        }
        return last;
    }
}
