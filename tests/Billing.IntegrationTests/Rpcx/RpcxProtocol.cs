using System.Net;
using System.Net.Sockets;
using System.Text;
using Billing.Rpc.Rpcx;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Logging.Abstractions;
using static Billing.IntegrationTests.Rpcx.RawConnection;

namespace Billing.IntegrationTests.Rpcx;

public sealed class RpcxProtocol
{
    private static readonly byte[] Payment = RpcxPair.Request(5).ToByteArray();

    [Fact]
    public async Task A_client_that_follows_the_protocol_description_is_served()
    {
        await using var pair = await RpcxPair.StartAsync();
        using var raw = await RawConnection.ConnectAsync(pair.Server.EndPoint);
        foreach (var part in Frame(KindRequest, id: 77, payload: Payment).Chunk(7))
        {
            await raw.SendAsync(part);
        }
        var frame = (await raw.ReadAsync())!.Value;
        Assert.Equal((KindReply, 77UL), (frame.Kind, frame.Id));
        Assert.Equal(5, MakePaymentResponse.Parser.ParseFrom(frame.Payload).Version);
    }

    public static TheoryData<byte[], string> Hostile { get; } = new()
    {
        { Encoding.ASCII.GetBytes("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "is no kind of frame of version 1" },
        { Frame(KindRequest, 1, version: 2), "is no kind of frame of version 1" },
        { [.. Enumerable.Repeat((byte)0xFF, 100_000)], "is no kind of frame of version 1" },
        { Frame(KindReply, 1), "a client must not send Reply" },
        { Frame(KindRequest, 1, payload: new byte[(4 << 20) + 1]), "a frame of 4194305 bytes is longer than 4194304" },
    };

    [Theory]
    [MemberData(nameof(Hostile))]
    public async Task What_violates_the_protocol_ends_only_its_own_connection_with_the_reason_in_the_log(
        byte[] hostile, string reason)
    {
        await using var pair = await RpcxPair.StartAsync();
        var payments = pair.Client().Proxy<IPayments>();
        await payments.PayAsync(RpcxPair.Request());
        using var raw = await RawConnection.ConnectAsync(pair.Server.EndPoint);
        try
        {
            await raw.SendAsync(hostile);
        }
        catch (SocketException)
        {
            // The server has closed the connection before it read everything.
        }
        Assert.Null(await raw.ReadAsync());
        Assert.Contains(pair.Log, line => line.StartsWith("Closed the connection of", StringComparison.Ordinal)
            && line.EndsWith(reason, StringComparison.Ordinal));
        await payments.PayAsync(RpcxPair.Request());
    }

    [Fact]
    public async Task An_unreadable_request_fails_only_its_call()
    {
        await using var pair = await RpcxPair.StartAsync();
        using var raw = await RawConnection.ConnectAsync(pair.Server.EndPoint);
        await raw.SendAsync(
            [.. Frame(KindRequest, 5, payload: [0xFF, 0xFF, 0xFF]), .. Frame(KindRequest, 6, payload: Payment)]);
        var failed = (await raw.ReadAsync())!.Value;
        Assert.Equal((KindError, 5UL), (failed.Kind, failed.Id));
        Assert.Equal((int)StatusCode.InvalidArgument, Error.Parser.ParseFrom(failed.Payload).StatusCode);
        Assert.Equal((KindReply, 6UL), (await raw.ReadAsync())!.Value is var next ? (next.Kind, next.Id) : default);
    }

    [Fact]
    public async Task A_client_that_disconnects_within_a_frame_does_not_affect_others()
    {
        await using var pair = await RpcxPair.StartAsync();
        using (var raw = await RawConnection.ConnectAsync(pair.Server.EndPoint))
        {
            await raw.SendAsync(Frame(KindRequest, 5, payload: Payment)[..30]);
        }
        await pair.Client().Proxy<IPayments>().PayAsync(RpcxPair.Request());
    }

    [Fact]
    public async Task The_server_stops_reading_from_a_client_at_the_maximum_of_calls_in_flight()
    {
        await using var pair = await RpcxPair.StartAsync(inFlightMax: 3);
        var answers = new List<TaskCompletionSource<MakePaymentResponse>>();
        var begun = new SemaphoreSlim(0);
        pair.Pay = _ =>
        {
            var answer = new TaskCompletionSource<MakePaymentResponse>(
                TaskCreationOptions.RunContinuationsAsynchronously);
            answers.Add(answer);
            begun.Release();
            return answer.Task;
        };
        using var raw = await RawConnection.ConnectAsync(pair.Server.EndPoint);
        await raw.SendAsync(
            [.. Enumerable.Range(1, 9).SelectMany(id => Frame(KindRequest, (ulong)id, payload: Payment))]);
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
        await using var pair = await RpcxPair.StartAsync();
        var begun = 0;
        pair.Pay = _ =>
        {
            Interlocked.Increment(ref begun);
            return Task.FromResult(new MakePaymentResponse { Message = new string('a', 100_000) });
        };
        const int Calls = 1_000;
        using var raw = await RawConnection.ConnectAsync(pair.Server.EndPoint);
        var sending = Task.Run(async () =>
        {
            for (var id = 1UL; id <= Calls; id++)
            {
                await raw.SendAsync(Frame(KindRequest, id, payload: Payment));
            }
        });
        // 100 MB of replies do not fit the socket buffers: with only the first reply read, the last call
        // cannot have started.
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
        using var listener = Listen();
        await using var client = Client(listener);
        var payments = client.Proxy<IPayments>();
        var calls = Enumerable.Range(0, 500)
            .Select(i => payments.PayAsync(RpcxPair.Request(i, new string('a', 100_000)))).ToList();
        using var server = new RawConnection(await listener.AcceptAsync());
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
        using var listener = Listen();
        await using var client = Client(listener);
        var call = client.Proxy<IPayments>().PayAsync(RpcxPair.Request());
        using var server = new RawConnection(await listener.AcceptAsync());
        Assert.Equal(KindRequest, (await server.ReadAsync())!.Value.Kind);
        await server.SendAsync(Frame(200, 1));
        var e = await Assert.ThrowsAsync<RpcxException>(() => call);
        Assert.Equal(StatusCode.Unavailable, e.StatusCode);
        Assert.Contains("is no kind of frame", e.Message, StringComparison.Ordinal);
    }

    private static Socket Listen()
    {
        var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        return listener;
    }

    private static RpcxClient Client(Socket listener) =>
        new(
            new RpcxClientOptions(listener.LocalEndPoint!.ToString()!),
            TimeProvider.System, NullLogger<RpcxClient>.Instance);
}
