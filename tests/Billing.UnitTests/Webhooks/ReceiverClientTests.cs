using System.Net;
using System.Net.Sockets;
using System.Text;
using Billing.Chaos.Network;
using Billing.Webhooks;

namespace Billing.UnitTests.Webhooks;

/// <summary>The client of a receiver against sockets of the test.</summary>
public sealed class ReceiverClientTests : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);

    public ReceiverClientTests() => _listener.Start();

    private int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    public void Dispose() => _listener.Dispose();

    [Fact]
    public async Task A_name_is_checked_at_each_connection_and_not_only_at_the_first()
    {
        // As of a name whose owner lets it point to a public address when it is checked, and inside when it is used.
        var answers = new Queue<IPAddress[]>(
            [[IPAddress.Loopback], [IPAddress.Parse("10.0.0.1"), IPAddress.IPv6Loopback]]);
        using var client = Client("127.0.0.0/8", answers.Dequeue);

        var first = client.SendAsync("visa/a@1", "{}");
        await AnswerAsync("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
        Assert.Null(await first);
        var second = await client.SendAsync("visa/a@2", "{}");

        Assert.Equal("address", second!.Reason);
        Assert.Equal(
            "'shop.example' is at 10.0.0.1, ::1, which is not public and not in Billing:Webhooks:AllowedNetworks.",
            second.Text);
        Assert.False(_listener.Pending());
    }

    [Fact]
    public async Task Of_several_addresses_only_those_that_are_allowed_are_connected_to()
    {
        using var client = Client("127.0.0.1/32", () => [IPAddress.Parse("127.0.0.2"), IPAddress.Loopback]);

        var sent = client.SendAsync("visa/a@1", "{}");
        await AnswerAsync("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");

        Assert.Null(await sent);
    }

    /// <summary>The first one is of a host that drops all packets.</summary>
    [Fact]
    public async Task An_address_that_answers_nothing_does_not_keep_the_next_one_waiting()
    {
        await using var silent = new TcpRelay(0, RelayBehaviour.None);
        silent.Vanish();
        using var listener = new TcpListener(IPAddress.Parse("127.0.0.2"), silent.Port);
        listener.Start();
        using var client = Client(
            "127.0.0.0/8", () => [IPAddress.Loopback, IPAddress.Parse("127.0.0.2")], port: silent.Port);

        var sent = client.SendAsync("visa/a@1", "{}");
        using var connection = await listener.AcceptSocketAsync(TestContext.Current.CancellationToken);
        await connection.SendAsync(Encoding.ASCII.GetBytes("HTTP/1.1 204 No Content\r\n\r\n"));

        Assert.Null(await sent);
    }

    [Theory]
    [InlineData("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", "302", null, false)]
    [InlineData("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", "410", null, true)]
    [InlineData("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n", "503", 120, false)]
    [InlineData("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", "429", 7, false)]
    [InlineData(
        "HTTP/1.1 500 Internal Server Error\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n", "500", null, false)]
    [InlineData("nonsense\r\n\r\n", "connection", null, false)]
    [InlineData("", "connection", null, false)]
    public async Task Everything_but_success_is_a_failure(string answer, string reason, int? retryAfter, bool isGone)
    {
        using var client = Client("127.0.0.0/8", () => [IPAddress.Loopback]);

        var sent = client.SendAsync("visa/a@1", "{}");
        await AnswerAsync(answer);
        var failure = await sent;

        Assert.Equal(
            (reason, retryAfter, isGone), (failure!.Reason, (int?)failure.RetryAfter?.TotalSeconds, failure.IsGone));
    }

    [Fact]
    public async Task A_body_without_end_is_not_read()
    {
        using var client = Client("127.0.0.0/8", () => [IPAddress.Loopback]);

        var sent = client.SendAsync("visa/a@1", "{}");
        using var connection = await AcceptAsync();
        await connection.SendAsync(
            Encoding.ASCII.GetBytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\nxxxx"));

        Assert.Null(await sent);
    }

    [Fact]
    public async Task A_head_that_is_too_long_is_a_failure()
    {
        using var client = Client("127.0.0.0/8", () => [IPAddress.Loopback]);

        var sent = client.SendAsync("visa/a@1", "{}");
        await AnswerAsync($"HTTP/1.1 200 OK\r\nX: {new string('x', 20_000)}\r\n\r\n");

        Assert.Equal("connection", (await sent)!.Reason);
    }

    [Fact]
    public async Task A_receiver_that_does_not_answer_in_time_is_a_failure()
    {
        var time = new ManualTime();
        using var client = Client("127.0.0.0/8", () => [IPAddress.Loopback], time);

        var sent = client.SendAsync("visa/a@1", "{}");
        using var connection = await AcceptAsync();
        time.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal("timeout", (await sent)!.Reason);
    }

    private ReceiverClient Client(
        string networks, Func<IPAddress[]> resolve, TimeProvider? time = null, int? port = null) => new(
        new ReceiverOptions
        {
            Url = $"http://shop.example:{port ?? Port}/",
            Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            AllowHttp = true,
        },
        new WebhookOptions { AllowedNetworks = networks }, time ?? TimeProvider.System,
        (_, _) => Task.FromResult(resolve()));

    private async Task<Socket> AcceptAsync() =>
        await _listener.AcceptSocketAsync(TestContext.Current.CancellationToken);

    // Answers one request, and closes the connection.
    private async Task AnswerAsync(string answer)
    {
        using var connection = await AcceptAsync();
        var request = new StringBuilder();
        var buffer = new byte[4096];
        while (!request.ToString().EndsWith("{}", StringComparison.Ordinal))
        {
            var read = await connection.ReceiveAsync(buffer);
            Assert.NotEqual(0, read);
            request.Append(Encoding.ASCII.GetString(buffer, 0, read));
        }
        await connection.SendAsync(Encoding.ASCII.GetBytes(answer));
        connection.Shutdown(SocketShutdown.Send);
    }
}
