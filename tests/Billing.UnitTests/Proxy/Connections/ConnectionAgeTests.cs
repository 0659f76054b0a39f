using System.Net;
using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Net.Client;

namespace Billing.UnitTests.Proxy.Connections;

/// <summary>Connections that have reached their greatest age.</summary>
public sealed class ConnectionAgeTests
{
    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    /// <summary>Every front with every protocol that it serves. Without TLS none is negotiated.</summary>
    public static TheoryData<Front, bool, string> Cells =>
    [
        .. from tls in (bool[])[false, true]
           from front in Enum.GetValues<Front>()
           let isGrpc = front is Front.Grpc or Front.AdminGrpc
           from version in (string[])["1.1", "2.0"]
           where version == "2.0" ? isGrpc || tls : !isGrpc
           select new TheoryDataRow<Front, bool, string>(front, tls, version),
    ];

    [Theory]
    [MemberData(nameof(Cells))]
    public async Task At_every_address_and_over_every_protocol_an_old_connection_gives_way_to_another_and_no_call_fails(
        Front front, bool tls, string version)
    {
        const int Rounds = 3;
        await using var proxy = await AgedProxy.StartAsync(tls);
        var connections = new CountedConnections();
        using var http = Http(proxy, connections, front, version);

        for (var round = 1; round <= Rounds; round++)
        {
            await Poll.UntilAsync(
                async () =>
                {
                    await AskAsync(http);
                    return connections.Opened >= round;
                },
                Stop);
            await AskAsync(http);
            // Young ones are kept.
            Assert.Equal(round, connections.Opened);
            proxy.Time.Advance(AgedProxy.Old);
        }

        await Poll.UntilAsync(() => connections.Closed >= Rounds - 1, Stop);
    }

    [Theory]
    [MemberData(nameof(Cells))]
    public async Task An_old_connection_that_nobody_uses_is_closed(Front front, bool tls, string version)
    {
        await using var proxy = await AgedProxy.StartAsync(tls);
        var connections = new CountedConnections();
        using var http = Http(proxy, connections, front, version);
        await AskAsync(http);

        proxy.Time.Advance(proxy.Ages.Single() + AgedProxy.Told + AgedProxy.Ending);

        await Poll.UntilAsync(() => connections.Closed == 1, Stop);
        await AskAsync(http);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Of_callers_that_call_without_a_pause_or_retries_no_call_fails_and_none_is_doubled(bool tls)
    {
        const int Callers = 4, Ages = 10;
        await using var proxy = await AgedProxy.StartAsync(tls);
        var connections = new CountedConnections();
        using var channel = Channel(proxy, connections);
        var client = new BillingService.BillingServiceClient(channel);
        var (made, isOver) = (0, false);
        var callers = Enumerable.Range(0, Callers).Select(async _ =>
        {
            while (!Volatile.Read(ref isOver))
            {
                var payment = Payment();
                Interlocked.Increment(ref made);
                var answer = await client.MakePaymentAsync(payment, cancellationToken: Stop);
                Assert.Equal(payment.TransactionId, answer.TransactionId);
            }
        }).ToList();

        for (var age = 1; age <= Ages && !callers.Exists(caller => caller.IsFaulted); age++)
        {
            await Poll.UntilAsync(() => connections.Opened >= age || callers.Exists(c => c.IsFaulted), Stop);
            proxy.Time.Advance(AgedProxy.Old);
            await Poll.UntilAsync(() => connections.Closed >= age || callers.Exists(c => c.IsFaulted), Stop);
        }

        Volatile.Write(ref isOver, true);
        await Task.WhenAll(callers);
        Assert.Equal(made, proxy.Backend.Commands.Count);
        Assert.True(connections.Opened >= Ages, $"{connections.Opened} connections");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_stream_of_an_old_connection_ends_after_its_answers_and_the_next_one_goes_on(bool tls)
    {
        await using var proxy = await AgedProxy.StartAsync(tls);
        var connections = new CountedConnections();
        using var channel = Channel(proxy, connections);
        var client = new BillingService.BillingServiceClient(channel);
        using var old = client.MakePayments(cancellationToken: Stop);
        await PayAsync(old);

        proxy.Time.Advance(AgedProxy.Old);
        proxy.Time.Advance(AgedProxy.Told);

        var ended = await Assert.ThrowsAsync<RpcException>(() => old.ResponseStream.MoveNext(Stop));
        Assert.Equal((StatusCode.Unavailable, ErrorReasons.StreamTooOld), (ended.StatusCode, ended.Reason()));
        Assert.Contains("Billing:Limits:ConnectionAgeMax", ended.Status.Detail, StringComparison.Ordinal);
        // On the old connection if the caller has not heard yet, otherwise on another one.
        using var next = client.MakePayments(cancellationToken: Stop);
        await PayAsync(next);
        await PayAsync(next);
        await Poll.UntilAsync(
            async () =>
            {
                using var another = client.MakePayments(cancellationToken: Stop);
                await PayAsync(another);
                return connections.Opened == 2;
            },
            Stop);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_caller_that_keeps_a_stream_open_on_an_old_connection_is_cut_off(bool tls)
    {
        await using var proxy = await AgedProxy.StartAsync(tls);
        var connections = new CountedConnections();
        using var channel = Channel(proxy, connections);
        // The only call without an end of its own.
        using var watch = new Health.HealthClient(channel).Watch(new HealthCheckRequest(), cancellationToken: Stop);
        Assert.True(await watch.ResponseStream.MoveNext(Stop));
        var end = watch.ResponseStream.MoveNext(Stop);

        proxy.Time.Advance(AgedProxy.Old);
        await Poll.UntilAsync(
            async () =>
            {
                await new BillingService.BillingServiceClient(channel)
                    .MakePaymentAsync(Payment(), cancellationToken: Stop);
                return connections.Opened == 2;
            },
            Stop);
        Assert.False(end.IsCompleted);
        proxy.Time.Advance(AgedProxy.Ending + AgedProxy.Told + AgedProxy.Told);

        await Assert.ThrowsAsync<RpcException>(() => end);
        await new BillingService.BillingServiceClient(channel).MakePaymentAsync(Payment(), cancellationToken: Stop);
    }

    [Fact]
    public async Task A_stream_that_is_opened_on_an_old_connection_does_not_end_at_once()
    {
        await using var proxy = await AgedProxy.StartAsync(tls: false);
        var connections = new CountedConnections();
        using var http = Http(proxy, connections, Front.Rest, "1.1");
        await AskAsync(http);
        proxy.Time.Advance(AgedProxy.Old);

        using var page = await http.GetAsync(
            new Uri("/live/events", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead, Stop);

        Assert.Equal(1, connections.Opened);
        Assert.True(page.Headers.ConnectionClose);
        await using var events = await page.Content.ReadAsStreamAsync(Stop);
        var buffer = new byte[100_000];
        Assert.NotEqual(0, await events.ReadAsync(buffer, Stop));
        // Less than the pages of this time would be too many for.
        proxy.Time.Advance(TimeSpan.FromSeconds(3));
        Assert.NotEqual(0, await events.ReadAsync(buffer, Stop));
    }

    [Fact]
    public async Task Connections_that_are_opened_together_do_not_grow_old_together()
    {
        const int Count = 20;
        await using var proxy = await AgedProxy.StartAsync(tls: false);
        for (var i = 0; i < Count; i++)
        {
            using var http = Http(proxy, new CountedConnections(), Front.Rest, "1.1");
            await AskAsync(http);
        }

        var ages = proxy.Ages.ToList();

        Assert.Equal((Count, Count), (ages.Count, ages.Distinct().Count()));
        Assert.InRange(ages.Max() - ages.Min(), AgedProxy.AgeMax * 0.15, AgedProxy.AgeMax * 0.2);
    }

    private static async Task PayAsync(AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentsResponse> stream)
    {
        var payment = Payment();
        await stream.RequestStream.WriteAsync(payment, Stop);
        Assert.True(await stream.ResponseStream.MoveNext(Stop));
        Assert.Equal(payment.TransactionId, stream.ResponseStream.Current.TransactionId);
    }

    private static MakePaymentRequest Payment()
    {
        var payment = Samples.Payment();
        payment.TransactionId = Guid.NewGuid().ToString();
        return payment;
    }

    private static async Task AskAsync(HttpClient http)
    {
        using var answer = await http.GetAsync(new Uri("/health/ready", UriKind.Relative), Stop);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
    }

    private static HttpClient Http(AgedProxy proxy, CountedConnections connections, Front front, string version) =>
        new(connections.On(proxy.Handler()))
        {
            BaseAddress = proxy.At(front),
            DefaultRequestVersion = Version.Parse(version),
            DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };

    private static GrpcChannel Channel(AgedProxy proxy, CountedConnections connections)
    {
        var http = new HttpClient(connections.On(proxy.Handler()));
        if (proxy.Token(TimeSpan.FromDays(30)) is { } token)
        {
            http.DefaultRequestHeaders.TryAddWithoutValidation("authorization", "Bearer " + token);
        }
        return GrpcChannel.ForAddress(
            proxy.At(Front.Grpc), new GrpcChannelOptions { HttpClient = http, DisposeHttpClient = true });
    }
}
