using System.Net;
using System.Net.Sockets;
using Billing.Messaging.Kafka.Clients;
using Confluent.Kafka;
using Microsoft.AspNetCore.Http;

namespace Billing.IntegrationTests.Webhooks;

/// <summary>What receivers, names and servers can do to the service that sends events.</summary>
public sealed class WebhookFailures : IClassFixture<WebhookPlatform>, IAsyncDisposable
{
    private readonly WebhookPlatform _platform;
    private readonly string _schema = WebhookPlatform.NewSchema();
    private readonly CancellationTokenSource _patience = new(Patience, TimeProvider.System);
    private readonly Receiver _receiver;

    public WebhookFailures(WebhookPlatform platform)
    {
        Assert.SkipWhen(platform.Missing is not null, platform.Missing ?? "");
        _platform = platform;
        _receiver = new Receiver(platform.Ports.Take());
    }

    public async ValueTask DisposeAsync()
    {
        await _platform.StopAsync();
        await _receiver.DisposeAsync();
        _patience.Dispose();
    }

    [Fact]
    public async Task A_redirect_is_a_failure_and_is_not_followed()
    {
        var accounts = WebhookPlatform.NewAccounts(1);
        await using var inside = await new Receiver(_platform.Ports.Take()).StartAsync();
        _receiver.Answer = (_, http) =>
        {
            http.Response.Headers.Location = inside.Url;
            return Task.FromResult(StatusCodes.Status307TemporaryRedirect);
        };
        await _receiver.StartAsync();
        var (_, address) = await _platform.StartAsync(_schema, _receiver.Url);

        await _platform.PublishAsync(accounts, 1, 1);

        Assert.Equal("It answered 307.", await FailureAsync(accounts[0]));
        Assert.Empty(inside.All);
        Assert.True(await WebhookDeliveries.MetricAsync(
            address, "billing_webhooks_failed_total{billing_receiver=\"shop\",error_type=\"307\"}") > 0);
    }

    [Fact]
    public async Task An_answer_that_no_database_stores_and_no_terminal_shows_is_a_failure_like_others()
    {
        var account = WebhookPlatform.NewAccounts(1);
        using var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        var port = ((IPEndPoint)listener.LocalEndPoint!).Port;
        await _platform.StartAsync(_schema, $"http://127.0.0.1:{port}/events");

        await _platform.PublishAsync(account, 1, 1);
        await AnswerAsync(listener, "HTTP/1.1 \0\u001b[2J\r\n\r\n"u8.ToArray());

        Assert.Contains("'..['", await FailureAsync(account[0]), StringComparison.Ordinal);
        await AnswerAsync(listener, "HTTP/1.1 204 No Content\r\n\r\n"u8.ToArray());
        await using var store = _platform.Store(_schema);
        await Poll.UntilAsync(async () => (await store.FailingAsync("shop", 100, _patience.Token)).Count == 0);
    }

    [Fact]
    public async Task A_name_that_resolves_to_this_machine_is_not_connected_to()
    {
        var accounts = WebhookPlatform.NewAccounts(1);
        await _receiver.StartAsync();
        var url = _receiver.Url.Replace("127.0.0.1", "localhost", StringComparison.Ordinal);
        await _platform.StartAsync(_schema, url, settings: ("AllowedNetworks", "10.0.0.0/8"));

        await _platform.PublishAsync(accounts, 1, 1);

        Assert.Matches(
            "^'localhost' is at .*127.0.0.1.*, which is not public and not in Billing:Webhooks:AllowedNetworks.$",
            await FailureAsync(accounts[0]));
        Assert.Empty(_receiver.All);
    }

    [Fact]
    public async Task A_service_whose_database_is_away_is_not_ready_and_goes_on_when_it_is_back()
    {
        var accounts = WebhookPlatform.NewAccounts(10);
        await _receiver.StartAsync();
        var (service, address) = await _platform.StartAsync(_schema, _receiver.Url);
        await _platform.PublishAsync(accounts, 1, 1);
        await _receiver.UntilTakenAsync(accounts, 1, _patience.Token);

        await _platform.Postgres.CrashAsync();
        await _platform.PublishAsync(accounts, 2, 2);
        await NotReadyAsync(address, "the events cannot be stored at present");
        await _platform.Postgres.StartAsync(_patience.Token);
        await _receiver.UntilTakenAsync(accounts, 2, _patience.Token);
        await service.WaitUntilAnsweredAsync(address + "/health/ready", _patience.Token);

        _receiver.IsInOrder(accounts);
    }

    [Fact]
    public async Task Without_brokers_and_a_database_services_are_not_ready_and_send_events_as_soon_as_there_are_both()
    {
        var accounts = WebhookPlatform.NewAccounts(10);
        await _receiver.StartAsync();
        var running = await _platform.StartAsync(_schema, _receiver.Url);

        _platform.Kafka.KillBroker(1);
        await NotReadyAsync(running.Address, "no broker answers");
        await _platform.Postgres.StopAsync();
        var started = await _platform.StartAsync(_schema, _receiver.Url, ready: false);
        await NotReadyAsync(started.Address, "the database cannot be used at present; the topics are not known yet");
        await Task.WhenAll(
            _platform.Postgres.StartAsync(_patience.Token), _platform.Kafka.StartBrokerAsync(1, _patience.Token));
        await Task.WhenAll(new[] { running, started }.Select(
            service => service.Process.WaitUntilAnsweredAsync(service.Address + "/health/ready", _patience.Token)));
        await _platform.PublishAsync(accounts, 1, 2);
        await _receiver.UntilTakenAsync(accounts, 2, _patience.Token);

        _receiver.IsInOrder(accounts);
        Assert.False(running.Process.HasExited || started.Process.HasExited);
    }

    [Fact]
    public async Task Events_that_the_topic_has_lost_before_they_were_taken_over_are_counted()
    {
        var account = WebhookPlatform.NewAccounts(1);
        await _receiver.StartAsync();
        await _platform.StartAsync(_schema, _receiver.Url);
        await _platform.PublishAsync(account, 1, 1);
        await _receiver.UntilTakenAsync(account, 1, _patience.Token);
        await _platform.StopAsync();

        await _platform.PublishAsync(WebhookPlatform.Event(account[0], 2));
        var last = await _platform.PublishAsync(WebhookPlatform.Event(account[0], 3));
        using (var admin = KafkaClients.Admin(
            new AdminClientConfig { BootstrapServers = _platform.Kafka.BootstrapServers }))
        {
            await admin.DeleteRecordsAsync([new TopicPartitionOffset(last.TopicPartition, last.Offset + 1)]);
        }
        await _platform.PublishAsync(WebhookPlatform.Event(account[0], 4));
        var (_, address) = await _platform.StartAsync(_schema, _receiver.Url);
        await Poll.UntilAsync(() => _receiver.Taken.Any(taken => taken.Account == account[0] && taken.Version == 4));

        Assert.Equal(
            [1, 4], _receiver.Taken.Where(taken => taken.Account == account[0]).Select(taken => taken.Version));
        Assert.Equal(2, await WebhookDeliveries.MetricAsync(address, "billing_webhooks_missed_total"));
    }

    private async Task AnswerAsync(Socket listener, byte[] answer)
    {
        using var connection = await listener.AcceptAsync(_patience.Token);
        var head = new byte[8_192];
        await connection.ReceiveAsync(head, _patience.Token);
        await connection.SendAsync(answer, _patience.Token);
        connection.Shutdown(SocketShutdown.Send);
        while (await connection.ReceiveAsync(head, _patience.Token) > 0)
        {
        }
    }

    private async Task<string> FailureAsync(string account)
    {
        await using var store = _platform.Store(_schema);
        var failing = await Poll.UntilAsync(
            async () => (await store.FailingAsync("shop", 100, _patience.Token))
                .FirstOrDefault(failing => failing.StreamId == $"visa/{account}"),
            failing => failing is not null);
        return failing!.Failure;
    }

    private async Task NotReadyAsync(string address, string reason)
    {
        using var http = new HttpClient();
        await Poll.UntilAsync(async () =>
        {
            try
            {
                using var answer = await http.GetAsync(new Uri(address + "/health/ready"), _patience.Token);
                return !answer.IsSuccessStatusCode
                    && (await answer.Content.ReadAsStringAsync(_patience.Token))
                        .Contains(reason, StringComparison.Ordinal);
            }
            catch (HttpRequestException)
            {
                // It has not started yet.
                return false;
            }
        });
    }
}
