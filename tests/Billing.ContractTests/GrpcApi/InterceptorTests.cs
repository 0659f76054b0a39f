using Billing.ContractTests.Protos;
using Grpc.Core;
using Grpc.Core.Interceptors;

namespace Billing.ContractTests.GrpcApi;

public sealed class InterceptorTests(EchoServer server) : IClassFixture<EchoServer>
{
    [Fact]
    public async Task A_server_interceptor_sees_every_call_shape()
    {
        await CallEveryShape(server.Client, new Metadata { { "x-record", "shapes" } });

        Assert.Equal(
            [
                "shapes: client stream /billing.contracttests.Echo/Collect",
                "shapes: duplex /billing.contracttests.Echo/Converse",
                "shapes: server stream /billing.contracttests.Echo/Repeat",
                "shapes: unary /billing.contracttests.Echo/Say",
                "shapes: unary /billing.contracttests.Echo/Say",
            ],
            server.Interceptor.Calls.Where(call => call.StartsWith("shapes", StringComparison.Ordinal)).Order());
    }

    [Fact]
    public async Task A_client_interceptor_sees_every_call_shape()
    {
        var calls = new List<string>();

        var invoker = server.Channel.Intercept(new RecordingClientInterceptor("a", calls));
        await CallEveryShape(new Echo.EchoClient(invoker), []);

        Assert.Equal(
            [
                "a: blocking Say",
                "a: unary Say",
                "a: server stream Repeat",
                "a: client stream Collect",
                "a: duplex Converse",
            ],
            calls);
    }

    [Fact]
    public async Task Interceptors_added_in_one_call_run_in_that_order_and_may_change_the_call()
    {
        var calls = new List<string>();
        var client = new Echo.EchoClient(server.Channel.Intercept(
            new RecordingClientInterceptor("outer", calls), new RecordingClientInterceptor("inner", calls)));

        using var call = client.SayAsync(new EchoRequest { Text = "t" });

        Assert.Equal("t", (await call).Text);
        Assert.Equal(["outer: unary Say", "inner: unary Say"], calls);
        Assert.Equal("inner", (await call.ResponseHeadersAsync).GetValue("x-echo-by"));
        Assert.Equal("inner", call.GetTrailers().GetValue("x-echo-by"));
        Assert.Equal(StatusCode.OK, call.GetStatus().StatusCode);
    }

    [Fact]
    public async Task An_interceptor_added_later_runs_first()
    {
        var calls = new List<string>();
        var invoker = server.Channel.CreateCallInvoker()
            .Intercept(new RecordingClientInterceptor("first added", calls))
            .Intercept(new RecordingClientInterceptor("last added", calls));

        await new Echo.EchoClient(invoker).SayAsync(new EchoRequest());

        Assert.Equal(["last added: unary Say", "first added: unary Say"], calls);
    }

    [Fact]
    public void A_null_interceptor_is_rejected()
    {
        Assert.Throws<ArgumentNullException>(() => server.Channel.Intercept((Interceptor)null!));
        Assert.Throws<ArgumentNullException>(() => server.Channel.Intercept((Func<Metadata, Metadata>)null!));
    }

    private static async Task CallEveryShape(Echo.EchoClient client, Metadata headers)
    {
        client.Say(new EchoRequest(), headers);
        await client.SayAsync(new EchoRequest(), headers);
        using var repeat = client.Repeat(new EchoRequest(), headers);
        Assert.False(await repeat.ResponseStream.MoveNext());
        using var collect = client.Collect(headers);
        await collect.RequestStream.CompleteAsync();
        await collect;
        using var converse = client.Converse(headers);
        await converse.RequestStream.CompleteAsync();
        Assert.False(await converse.ResponseStream.MoveNext());
    }
}
