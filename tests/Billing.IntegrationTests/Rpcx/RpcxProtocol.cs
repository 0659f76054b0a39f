using System.Net.Sockets;
using System.Text;
using Billing.Rpc.Rpcx;
using Billing.Rpc.Rpcx.Calling;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Logging;
using static Billing.IntegrationTests.Rpcx.RawConnection;

namespace Billing.IntegrationTests.Rpcx;

public sealed class RpcxProtocol
{
    private static readonly byte[] Payment = RpcxPair.Request(5).ToByteArray();

    [Fact]
    public async Task A_client_that_follows_the_protocol_description_is_served()
    {
        await using var pair = await RpcxPair.StartAsync();
        using var raw = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync();
        foreach (var part in Frame(KindRequest, id: 77, method: 1, payload: Payment).Chunk(7))
        {
            await raw.SendAsync(part);
        }
        var frame = (await raw.ReadAsync())!.Value;
        Assert.Equal((KindReply, 77UL), (frame.Kind, frame.Id));
        Assert.Equal(5, MakePaymentResponse.Parser.ParseFrom(frame.Payload).Version);
    }

    [Fact]
    public async Task A_client_with_another_version_is_rejected_with_both_versions()
    {
        await using var pair = await RpcxPair.StartAsync();
        using var raw = await RawConnection.ConnectAsync(pair.Server.EndPoint);
        await raw.SendAsync(HelloFrame(version: 2));
        var error = await raw.EndAsync();
        Assert.Equal(RpcxReasons.VersionRefused, error.Reason);
        Assert.Equal("the client uses version 2 of RPCX, and this server version 1", error.Message);
    }

    [Fact]
    public async Task A_call_to_a_server_that_rejects_the_version_fails_with_that_reason()
    {
        using var listener = RawConnection.Listen();
        await using var client = Client(listener);
        var call = client.Proxy<IPayments>().PayAsync(RpcxPair.Request(), default);
        using var server = await RawConnection.AcceptAsync(listener);
        var refusal = new Error { StatusCode = 13, Reason = RpcxReasons.VersionRefused, Message = "this is version 9" };
        await server.SendAsync(Frame(KindError, payload: refusal.ToByteArray()));
        var e = await Assert.ThrowsAsync<RpcxException>(() => call);
        Assert.Equal((StatusCode.Unavailable, RpcxReasons.VersionRefused), (e.StatusCode, e.Reason));
        Assert.EndsWith("the server answered: this is version 9.", e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")]
    [InlineData("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")]
    public async Task Another_protocol_is_rejected_with_the_reason_in_the_log(string text)
    {
        await using var pair = await RpcxPair.StartAsync();
        using var raw = await RawConnection.ConnectAsync(pair.Server.EndPoint);
        await raw.SendAsync(Encoding.ASCII.GetBytes(text));
        Assert.Equal(RpcxReasons.ProtocolViolated, (await raw.EndAsync()).Reason);
        var message = await pair.Log.WaitForMessageAsync("Closed the connection of 127.0.0.1:");
        Assert.Contains("not a valid frame kind", message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Invalid_bytes_close_only_their_own_connection()
    {
        await using var pair = await RpcxPair.StartAsync();
        var payments = pair.Client().Proxy<IPayments>();
        await payments.PayAsync(RpcxPair.Request(), default);
        using var raw = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync();
        await raw.SendAsync([.. Enumerable.Repeat((byte)0xFF, 100_000)]);
        Assert.Equal(RpcxReasons.ProtocolViolated, (await raw.EndAsync()).Reason);
        await payments.PayAsync(RpcxPair.Request(), default);
        Assert.DoesNotContain(pair.Log.Messages, m => m.Contains("is lost", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_frame_that_is_too_long_closes_its_connection_with_the_reason()
    {
        await using var pair = await RpcxPair.StartAsync(options => options.FrameBytesMax = 1_000);
        using var raw = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync();
        await raw.SendAsync(Frame(KindRequest, 1, 1, payload: new byte[1_001]));
        Assert.Equal("a frame of 1001 bytes is larger than FrameBytesMax, 1000", (await raw.EndAsync()).Message);
    }

    [Theory]
    [InlineData(KindWelcome, 0, "a client must not send Welcome here")]
    [InlineData(KindHello, 0, "a client must not send Hello here")]
    [InlineData(KindRequest, 0, "a call has the id 0")]
    public async Task A_frame_that_no_client_may_send_closes_its_connection(byte kind, ulong id, string reason)
    {
        await using var pair = await RpcxPair.StartAsync();
        using var raw = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync();
        await raw.SendAsync(Frame(kind, id, 1));
        Assert.Equal(reason, (await raw.EndAsync()).Message);
    }

    [Fact]
    public async Task Method_numbers_out_of_sequence_close_the_connection()
    {
        await using var pair = await RpcxPair.StartAsync();
        using var raw = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync();
        await raw.SendAsync(Frame(KindNames, payload: new RpcxMethodNames { FirstNumber = 9 }.ToByteArray()));
        Assert.Equal("the names begin with number 9 instead of 2", (await raw.EndAsync()).Message);
    }

    [Fact]
    public async Task A_duplicate_call_id_in_flight_closes_the_connection()
    {
        await using var pair = await RpcxPair.StartAsync();
        var never = new TaskCompletionSource<MakePaymentResponse>();
        pair.Pay = (_, _) => never.Task;
        using var raw = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync();
        var frame = Frame(KindRequest, 5, 1, payload: Payment);
        await raw.SendAsync([.. frame, .. frame]);
        Assert.Equal("call 5 uses an id that is in use", (await raw.EndAsync()).Message);
        never.SetResult(new MakePaymentResponse());
    }

    [Fact]
    public async Task An_unreadable_request_fails_only_its_call()
    {
        await using var pair = await RpcxPair.StartAsync();
        using var raw = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync();
        await raw.SendAsync(Frame(KindRequest, 5, 1, payload: [0xFF, 0xFF, 0xFF]));
        await raw.SendAsync(Frame(KindRequest, 6, 1, payload: Payment));
        var failed = (await raw.ReadAsync())!.Value;
        Assert.Equal((KindError, 5UL), (failed.Kind, failed.Id));
        Assert.Equal(RpcxReasons.RequestUnreadable, Error.Parser.ParseFrom(failed.Payload).Reason);
        Assert.Equal((KindReply, 6UL), ((await raw.ReadAsync())!.Value is var next ? (next.Kind, next.Id) : default));
    }

    [Fact]
    public async Task A_silent_client_is_disconnected()
    {
        await using var pair = await RpcxPair.StartAsync(options => options.HelloTimeout = TimeSpan.FromMilliseconds(50));
        using var raw = await RawConnection.ConnectAsync(pair.Server.EndPoint);
        Assert.Contains("(HelloTimeout)", (await raw.EndAsync()).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_that_disconnects_within_a_frame_does_not_affect_others()
    {
        await using var pair = await RpcxPair.StartAsync();
        using (var raw = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync())
        {
            await raw.SendAsync(Frame(KindRequest, 5, 1, payload: Payment)[..30]);
        }
        await pair.Log.WaitForMessageAsync("disconnected");
        await pair.Client().Proxy<IPayments>().PayAsync(RpcxPair.Request(), default);
    }

    [Fact]
    public async Task Connections_above_the_maximum_are_closed()
    {
        await using var pair = await RpcxPair.StartAsync(options => options.ConnectionsMax = 1);
        using var first = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync();
        using var second = await RawConnection.ConnectAsync(pair.Server.EndPoint);
        await pair.Log.WaitForMessageAsync("1 connections (ConnectionsMax)");
        await first.SendAsync(Frame(KindRequest, 5, 1, payload: Payment));
        Assert.Equal(KindReply, (await first.ReadAsync())!.Value.Kind);
    }

    [Fact]
    public async Task The_server_stops_reading_from_a_client_at_the_maximum_of_calls_in_flight()
    {
        await using var pair = await RpcxPair.StartAsync(options => options.InFlightMax = 3);
        var answers = new List<TaskCompletionSource<MakePaymentResponse>>();
        var begun = new SemaphoreSlim(0);
        pair.Pay = (_, _) =>
        {
            var answer = new TaskCompletionSource<MakePaymentResponse>(TaskCreationOptions.RunContinuationsAsynchronously);
            answers.Add(answer);
            begun.Release();
            return answer.Task;
        };
        using var raw = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync();
        await raw.SendAsync([.. Enumerable.Range(1, 9).SelectMany(id => Frame(KindRequest, (ulong)id, 1, payload: Payment))]);
        for (var i = 0; i < 9; i++)
        {
            await begun.WaitAsync(TestContext.Current.CancellationToken);
            Assert.InRange(answers.Count(a => !a.Task.IsCompleted), 1, 3);
            if (i >= 2)
            {
                answers[i - 2].SetResult(RpcxPair.Answer(RpcxPair.Request()));
                Assert.Equal((ulong)(i - 1), (await raw.ReadAsync())!.Value.Id);
            }
        }
        answers.ForEach(a => a.TrySetResult(RpcxPair.Answer(RpcxPair.Request())));
    }

    [Fact]
    public async Task The_server_stops_reading_from_a_client_that_does_not_read_its_replies()
    {
        await using var pair = await RpcxPair.StartAsync(options => options.OutputBytesMax = 10_000);
        var begun = 0;
        pair.Pay = (_, _) =>
        {
            Interlocked.Increment(ref begun);
            return Task.FromResult(new MakePaymentResponse { Message = new string('a', 100_000) });
        };
        const int Calls = 1_000;
        using var raw = await (await RawConnection.ConnectAsync(pair.Server.EndPoint)).HandshakeAsync();
        var sending = Task.Run(async () =>
        {
            for (var id = 1UL; id <= Calls; id++)
            {
                await raw.SendAsync(Frame(KindRequest, id, 1, payload: Payment));
            }
        });
        // 100 MB of replies do not fit the socket buffers: with only the first reply read, the last call cannot have started.
        Assert.Equal(1UL, (await raw.ReadAsync())!.Value.Id);
        Assert.True(Volatile.Read(ref begun) < Calls);
        for (var id = 2UL; id <= Calls; id++)
        {
            Assert.Equal(id, (await raw.ReadAsync())!.Value.Id);
        }
        await sending;
    }

    [Fact]
    public async Task A_server_that_does_not_read_delays_its_callers_and_no_call_is_lost()
    {
        using var listener = RawConnection.Listen();
        await using var client = Client(listener, options => options.OutputBytesMax = 10_000);
        var payments = client.Proxy<IPayments>();
        var calls = Enumerable.Range(0, 500)
            .Select(i => payments.PayAsync(RpcxPair.Request(i, new string('a', 100_000)), default)).ToList();
        using var server = await RawConnection.AcceptAsync(listener);
        Assert.Equal(KindHello, (await server.ReadAsync())!.Value.Kind);
        await server.SendAsync(Frame(
            KindWelcome, payload: new RpcxWelcome { FrameBytesMax = 1 << 20, InFlightMax = 1_000 }.ToByteArray()));
        Assert.DoesNotContain(calls, call => call.IsCompleted);
        for (var i = 0; i < calls.Count; i++)
        {
            var frame = (await server.ReadAsync())!.Value;
            var answer = RpcxPair.Answer(MakePaymentRequest.Parser.ParseFrom(frame.Payload));
            await server.SendAsync(Frame(KindReply, frame.Id, payload: answer.ToByteArray()));
        }
        var replies = await Task.WhenAll(calls);
        Assert.Equal(Enumerable.Range(0, 500).Select(i => (long)i), replies.Select(r => r.Version));
    }

    [Fact]
    public async Task Invalid_bytes_from_a_server_fail_the_calls_on_its_connection()
    {
        using var listener = RawConnection.Listen();
        await using var client = Client(listener);
        var call = client.Proxy<IPayments>().PayAsync(RpcxPair.Request(), default);
        using var server = await RawConnection.AcceptAsync(listener);
        await server.ReadAsync();
        await server.SendAsync(Frame(
            KindWelcome, payload: new RpcxWelcome { FrameBytesMax = 1 << 20, InFlightMax = 10 }.ToByteArray()));
        Assert.Equal(KindRequest, (await server.ReadAsync())!.Value.Kind);
        await server.SendAsync(Frame(200));
        var e = await Assert.ThrowsAsync<RpcxException>(() => call);
        Assert.Equal((StatusCode.Unavailable, RpcxReasons.ConnectionLost), (e.StatusCode, e.Reason));
        Assert.Contains("not a valid frame kind", e.Message, StringComparison.Ordinal);
    }

    private static RpcxClient Client(Socket listener, Action<RpcxClientOptions>? set = null)
    {
        var options = new RpcxClientOptions { Address = listener.LocalEndPoint!.ToString()! };
        set?.Invoke(options);
        return new RpcxClient(options, TimeProvider.System, new Logger<RpcxClient>(new RecordingLog()));
    }
}
