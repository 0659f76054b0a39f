using System.Net;
using System.Net.Sockets;
using System.Text;
using Billing.Misuse;
using Billing.Misuse.Attacks;
using Billing.Misuse.Connections;
using Billing.UnitTests.Fuzzing;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Testing;
using Billing.V1;

namespace Billing.UnitTests.Misuse;

/// <summary>Hostile callers against a real proxy, and what they tell of servers that treat them in a known
/// way.</summary>
public sealed class AttackerTests
{
    private static readonly Layout Small = new(2, 3);
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    /// <summary>An attack with a mistake would be refused at once, and prove nothing.</summary>
    [Fact]
    public async Task Every_attack_is_made_and_the_proxy_serves_afterwards()
    {
        await using var proxy = await FuzzedProxy.StartAsync();
        using var end = new CancellationTokenSource();
        var attackers = (
            from attack in Catalogue.All
            from front in attack.Fronts
            where !AttackOrder.HasTls(front)
            let attacker = new Attacker(new AttackOrder
            {
                Attack = attack.Name,
                Front = front,
                Layout = Small,
                Port = AttackOrder.IsGrpc(front) ? proxy.Grpc.Port : proxy.Host.Rest.Port,
                LongAccount = "acct-42",
            })
            select (Attack: attack, Attacker: attacker, Running: attacker.RunAsync(end.Token))).ToList();

        await Poll.UntilAsync(
            () => attackers.TrueForAll(made => made.Running.IsCompleted || made.Attacker.Result is var result
                && result.Connections >= Small.Connections
                && (result.SentBytes > 0 || made.Attack.Phase == Phase.Connecting)),
            TestContext.Current.CancellationToken);
        await end.CancelAsync();
        var results = await Task.WhenAll(attackers.Select(made => made.Running));

        Assert.All(results, result => Assert.Equal(0, result.Unreached));
        var paid = await proxy.Host.Client.MakePaymentAsync(
            Samples.Payment(), cancellationToken: TestContext.Current.CancellationToken);
        Assert.Equal(PaymentOutcome.Accepted, paid.Outcome);
    }

    [Theory]
    [InlineData(2, true)]
    [InlineData(1_000, false)]
    public async Task A_limit_of_a_proxy_shows_in_what_happens_to_its_callers(int streams, bool isReached)
    {
        await using var proxy = await ProxyHost.StartAsync(
            new FakeBackend(), options => options.StreamsPerConnection = streams);
        using var end = new CancellationTokenSource(TimeSpan.FromSeconds(1), TimeProvider.System);

        var result = await new Attacker(new AttackOrder
        {
            Attack = "streams-open",
            Front = Front.GrpcH2c,
            Layout = new Layout(1, 50),
            Port = new Uri(proxy.Address).Port,
        }).RunAsync(end.Token).WaitAsync(Patience, TestContext.Current.CancellationToken);

        Assert.Equal(isReached, result.StreamsReset + result.Closed > 0);
    }

    public static TheoryData<string> Treatments => ["held", "closed", "reset", "answered", "refused"];

    [Theory]
    [MemberData(nameof(Treatments))]
    public async Task What_a_server_does_to_its_callers_is_counted(string treatment)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var end = new CancellationTokenSource();
        var serving = ServeAsync(listener, treatment, end);

        var result = await new Attacker(new AttackOrder
        {
            Attack = "idle-after-request",
            Front = Front.RestH1,
            Layout = new Layout(1, 1),
            Port = ((IPEndPoint)listener.LocalEndpoint).Port,
            LongAccount = "acct-42",
        }).RunAsync(end.Token).WaitAsync(Patience, TestContext.Current.CancellationToken);
        using var last = await serving;

        Assert.Equal(treatment is "closed" or "answered" or "refused" ? 1 : 0, result.Closed);
        Assert.Equal(treatment == "reset" ? 1 : 0, result.Aborted);
        Assert.Equal(treatment == "answered" ? 1 : 0, result.Served);
        Assert.Equal(treatment == "refused" ? 1 : 0, result.Refused.GetValueOrDefault("429"));
        // All but the first one made another connection, which is left alone.
        Assert.Equal(1, result.Held);
    }

    [Fact]
    public async Task A_port_on_which_nobody_listens_is_told()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var port = ((IPEndPoint)listener.LocalEndpoint).Port;
        listener.Stop();
        using var end = new CancellationTokenSource(TimeSpan.FromMilliseconds(100), TimeProvider.System);

        var result = await new Attacker(
            new AttackOrder { Attack = "connected", Front = Front.RestH1, Layout = new Layout(1, 1), Port = port })
            .RunAsync(end.Token);

        Assert.InRange(result.Unreached, 1, long.MaxValue);
        Assert.Contains("connections refused", result.ToString(), StringComparison.Ordinal);
    }

    // Treats the first connection, waits until its caller has seen that, and ends the attack. The last connection is
    // left open: its caller may not have seen yet that the attack has ended.
    private static async Task<Socket> ServeAsync(
        TcpListener listener, string treatment, CancellationTokenSource end)
    {
        var socket = await listener.AcceptSocketAsync();
        var buffer = new byte[4_096];
        var request = "";
        while (!request.EndsWith("\r\n\r\n", StringComparison.Ordinal))
        {
            request += Encoding.ASCII.GetString(buffer, 0, await socket.ReceiveAsync(buffer));
        }
        if (treatment is "answered" or "refused")
        {
            var status = treatment == "refused" ? "429 Too Many Requests" : "200 OK";
            foreach (var part in $"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".Chunk(7))
            {
                await socket.SendAsync(Encoding.ASCII.GetBytes(part));
            }
        }
        if (treatment != "held")
        {
            socket.LingerState = new LingerOption(treatment == "reset", 0);
            socket.Close();
            // A caller comes back when it has noticed the end of its connection.
            socket = await listener.AcceptSocketAsync();
            await socket.ReceiveAsync(buffer);
        }
        await end.CancelAsync();
        return socket;
    }
}
