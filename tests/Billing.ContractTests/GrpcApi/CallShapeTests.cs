using Billing.ContractTests.Protos;
using Grpc.Core;

namespace Billing.ContractTests.GrpcApi;

public sealed class CallShapeTests(EchoServer server) : IClassFixture<EchoServer>
{
    [Fact]
    public async Task A_unary_call_is_answered()
    {
        using var call = server.Client.SayAsync(new EchoRequest { Text = "hello" });

        Assert.Equal("hello", (await call).Text);
        Assert.Equal("hello", (await call.ConfigureAwait(true)).Text);
        Assert.Equal("hello", (await call.ResponseAsync).Text);
        Assert.Equal(StatusCode.OK, call.GetStatus().StatusCode);
        Assert.Empty(call.GetTrailers());
    }

    [Fact]
    public void A_blocking_unary_call_is_answered() =>
        Assert.Equal("hello", server.Client.Say(new EchoRequest { Text = "hello" }).Text);

    [Fact]
    public async Task A_server_stream_arrives_in_order()
    {
        using var call = server.Client.Repeat(new EchoRequest { Text = "n", Times = 3 });

        var texts = new List<string>();
        await foreach (var reply in call.ResponseStream.ReadAllAsync())
        {
            texts.Add(reply.Text);
        }

        Assert.Equal(["n 0", "n 1", "n 2"], texts);
        Assert.Equal(StatusCode.OK, call.GetStatus().StatusCode);
    }

    [Fact]
    public async Task A_client_stream_is_answered_once_complete()
    {
        using var call = server.Client.Collect();
        await call.RequestStream.WriteAsync(new EchoRequest { Text = "a" });
        await call.RequestStream.WriteAsync(new EchoRequest { Text = "b" }, CancellationToken.None);
        await call.RequestStream.CompleteAsync();

        Assert.Equal("a b", (await call).Text);
    }

    [Fact]
    public async Task A_duplex_stream_answers_message_by_message()
    {
        using var call = server.Client.Converse();
        foreach (string text in new[] { "a", "b", "c" })
        {
            await call.RequestStream.WriteAsync(new EchoRequest { Text = text });
            Assert.True(await call.ResponseStream.MoveNext());
            Assert.Equal(text, call.ResponseStream.Current.Text);
        }

        await call.RequestStream.CompleteAsync();
        Assert.False(await call.ResponseStream.MoveNext());
        Assert.Equal(StatusCode.OK, call.GetStatus().StatusCode);
    }

    [Fact]
    public async Task The_status_of_a_running_call_is_not_available()
    {
        using var call = server.Client.Converse();

        Assert.Throws<InvalidOperationException>(() => call.GetStatus());
        Assert.Throws<InvalidOperationException>(() => call.GetTrailers());
        await call.RequestStream.CompleteAsync();
    }

    [Fact]
    public async Task A_stream_writer_keeps_its_write_options()
    {
        using var call = server.Client.Converse();
        call.RequestStream.WriteOptions = new WriteOptions(WriteFlags.NoCompress | WriteFlags.BufferHint);

        Assert.Equal(WriteFlags.NoCompress | WriteFlags.BufferHint, call.RequestStream.WriteOptions.Flags);
        call.RequestStream.WriteOptions = WriteOptions.Default;
        await call.RequestStream.CompleteAsync();
        Assert.False(await call.ResponseStream.MoveNext());
    }

    [Fact]
    public async Task A_service_bound_by_hand_is_served()
    {
        var invoker = server.Channel.CreateCallInvoker();

        Assert.Equal("/billing.contracttests.BoundByHand/Reverse", BoundByHand.Reverse.FullName);
        Assert.Equal("cba", await invoker.AsyncUnaryCall(BoundByHand.Reverse, null, new CallOptions(), "abc"));
    }

    [Fact]
    public void A_method_is_bound_once() =>
        Assert.Throws<ArgumentException>(() => ServerServiceDefinition.CreateBuilder()
            .AddMethod(BoundByHand.Reverse, (text, _) => Task.FromResult(text))
            .AddMethod(BoundByHand.Reverse, (text, _) => Task.FromResult(text)));

    [Fact]
    public void A_client_without_a_channel_makes_no_calls() =>
        Assert.Throws<NotImplementedException>(() => new DetachedClient().Say(new EchoRequest()));

    private sealed class DetachedClient : Echo.EchoClient;
}
