using System.Security.Cryptography;
using System.Text;
using Billing.IntegrationTests.Services;
using Billing.Messaging;
using Microsoft.AspNetCore.Http;

namespace Billing.IntegrationTests.Webhooks;

/// <summary>Events that real services send to a real receiver.</summary>
public sealed class WebhookDeliveries : IClassFixture<WebhookPlatform>, IAsyncDisposable
{
    private readonly WebhookPlatform _platform;
    private readonly string _schema = WebhookPlatform.NewSchema();
    private readonly CancellationTokenSource _patience = new(Patience, TimeProvider.System);
    private readonly Receiver _receiver;

    public WebhookDeliveries(WebhookPlatform platform)
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
    public async Task Every_event_arrives_signed_and_in_the_order_of_its_account()
    {
        var accounts = WebhookPlatform.NewAccounts(40);
        await _receiver.StartAsync();
        var (_, address) = await StartAsync();

        await _platform.PublishAsync(accounts, 1, 10);
        await _receiver.UntilTakenAsync(accounts, 10, _patience.Token);

        _receiver.IsInOrder(accounts);
        Assert.All(_receiver.Taken.Where(taken => accounts.Contains(taken.Account)), taken =>
        {
            Assert.Equal(EventIds.Of(Guid.Parse(taken.TransactionId), $"visa/{taken.Account}").ToString(), taken.Id);
            Assert.Equal("/events", taken.Path);
            Assert.Equal(Signed(taken), taken.Signature);
        });
        await Poll.UntilAsync(async () =>
            await MetricAsync(address, "billing_webhooks_delivered_total{billing_receiver=\"shop\"}") >= 400);
        Assert.Contains(
            "billing_kafka_consumer_lag{messaging_destination_name=\"billing.events\"",
            await MetricsAsync(address), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Every_event_arrives_in_order_although_the_service_is_killed_again_and_again()
    {
        var accounts = WebhookPlatform.NewAccounts(40);
        await _receiver.StartAsync();
        var publishing = _platform.PublishAsync(accounts, 1, 50);

        for (var kills = 0; kills < 4; kills++)
        {
            var taken = _receiver.Taken.Count;
            var (service, _) = await StartAsync(ready: false, ("Timeout", "00:00:00.500"));
            await Poll.UntilAsync(() => _receiver.Taken.Count >= taken + 100);
            service.Kill();
            await service.WaitForExitAsync(_patience.Token);
        }
        await publishing;
        await StartAsync();
        await _receiver.UntilTakenAsync(accounts, 50, _patience.Token);

        _receiver.IsInOrder(accounts);
        await NothingWaitsAsync();
    }

    [Fact]
    public async Task What_was_published_while_the_receiver_was_down_arrives_when_it_is_up()
    {
        var accounts = WebhookPlatform.NewAccounts(20);
        await StartAsync();
        await _platform.PublishAsync(accounts, 1, 5);
        await using var store = _platform.Store(_schema);
        await Poll.UntilAsync(
            async () => (await store.FailingAsync("shop", 100, _patience.Token)).Count >= accounts.Length);

        await _receiver.StartAsync();
        await _receiver.UntilTakenAsync(accounts, 5, _patience.Token);

        _receiver.IsInOrder(accounts);
        await NothingWaitsAsync();
    }

    [Fact]
    public async Task An_account_refused_for_too_long_is_parked_and_its_events_are_replayed_in_order_on_command()
    {
        var accounts = WebhookPlatform.NewAccounts(10);
        var (refused, others) = (accounts[0], accounts[1..]);
        var isRefused = true;
        _receiver.Answer = (account, _) =>
            Task.FromResult(account == refused && Volatile.Read(ref isRefused) ? 500 : 204);
        await _receiver.StartAsync();
        await StartAsync(settings: ("RetryFor", "00:00:01"));

        await _platform.PublishAsync(accounts, 1, 3);
        await _receiver.UntilTakenAsync(others, 3, _patience.Token);
        await ParkedAsync(refused);
        await _platform.PublishAsync(accounts, 4, 4);
        await _receiver.UntilTakenAsync(others, 4, _patience.Token);
        var listed = await CommandAsync("list");
        Volatile.Write(ref isRefused, false);
        var replayed = await CommandAsync("replay", "--receiver", "shop", "--account", $"visa/{refused}");
        await _receiver.UntilTakenAsync(accounts, 4, _patience.Token);

        _receiver.IsInOrder(accounts);
        Assert.Contains("shop: 4 events wait", listed.Output, StringComparison.Ordinal);
        Assert.Contains("1 accounts are parked", listed.Output, StringComparison.Ordinal);
        Assert.Contains($"visa/{refused}", listed.Output, StringComparison.Ordinal);
        Assert.Contains("It answered 500.", listed.Output, StringComparison.Ordinal);
        Assert.Equal(
            (0, true),
            (replayed.ExitCode, replayed.Output.Contains("1 accounts are tried now.", StringComparison.Ordinal)));
        await NothingWaitsAsync();
    }

    [Fact]
    public async Task A_receiver_that_answers_410_gets_no_more_events_of_the_account_and_these_can_be_given_up()
    {
        var accounts = WebhookPlatform.NewAccounts(2);
        _receiver.Answer = (account, _) => Task.FromResult(account == accounts[0] ? StatusCodes.Status410Gone : 204);
        await _receiver.StartAsync();
        await StartAsync();

        await _platform.PublishAsync(accounts, 1, 3);
        await _receiver.UntilTakenAsync([accounts[1]], 3, _patience.Token);
        await ParkedAsync(accounts[0]);
        var dropped = await CommandAsync("drop", "--receiver", "shop", "--account", $"visa/{accounts[0]}");

        Assert.Contains("3 events are given up.", dropped.Output, StringComparison.Ordinal);
        Assert.Single(_receiver.All, received => received.Account == accounts[0]);
        await NothingWaitsAsync();
    }

    [Fact]
    public async Task An_account_whose_delivery_takes_long_holds_up_no_other_account()
    {
        var accounts = WebhookPlatform.NewAccounts(10);
        var answer = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        _receiver.Answer = (account, _) => account == accounts[0] ? answer.Task : Task.FromResult(204);
        await _receiver.StartAsync();
        await StartAsync(settings: ("Timeout", "00:05:00"));

        await _platform.PublishAsync(accounts, 1, 5);
        await _receiver.UntilTakenAsync(accounts[1..], 5, _patience.Token);
        Assert.DoesNotContain(_receiver.All, received => received.Account == accounts[0]);
        answer.SetResult(204);
        await _receiver.UntilTakenAsync(accounts, 5, _patience.Token);

        _receiver.IsInOrder(accounts);
    }

    [Fact]
    public async Task Two_services_share_the_work_and_keep_the_order()
    {
        var accounts = WebhookPlatform.NewAccounts(30);
        var (requests, second) = (0, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        // Each service sends one event at a time: the first one is answered when the other service sends one, too.
        _receiver.Answer = async (_, _) =>
        {
            if (Interlocked.Increment(ref requests) == 2)
            {
                second.SetResult();
            }
            await second.Task;
            return 204;
        };
        await _receiver.StartAsync();
        (string, string)[] settings = [("ConcurrencyMax", "1"), ("Timeout", "00:05:00")];
        await Task.WhenAll(StartAsync(settings: settings), StartAsync(settings: settings));

        await _platform.PublishAsync(accounts, 1, 10);
        await _receiver.UntilTakenAsync(accounts, 10, _patience.Token);

        _receiver.IsInOrder(accounts);
        await NothingWaitsAsync();
    }

    [Fact]
    public async Task A_receiver_gets_only_the_events_that_its_settings_name()
    {
        var accounts = WebhookPlatform.NewAccounts(2);
        await _receiver.StartAsync();
        await StartAsync(
            settings: [("Receivers__shop__Events", "PAYMENT_DECLINED"), ("Receivers__shop__PaymentTypes", "VISA")]);
        var declined = WebhookPlatform.Event(accounts[0], 2);
        declined.PaymentDeclined = new Wire.V1.PaymentDeclined
        {
            Amount = declined.PaymentAccepted.Amount,
            Reason = V1.DeclineReason.CreditLimitExceeded,
        };
        var amex = declined.Clone();
        amex.StreamId = $"amex/{accounts[0]}";

        await _platform.PublishAsync(accounts, 1, 1);
        await _platform.PublishAsync(amex);
        await _platform.PublishAsync(declined);
        await Poll.UntilAsync(() => _receiver.Taken.Any(taken => taken.Account == accounts[0]));
        await NothingWaitsAsync();

        var received = Assert.Single(_receiver.All, received => accounts.Contains(received.Account));
        Assert.Equal(
            (accounts[0], 2, declined.TransactionId), (received.Account, received.Version, received.TransactionId));
    }

    [Fact]
    public async Task Records_that_are_no_events_of_an_account_hold_up_nothing()
    {
        var accounts = WebhookPlatform.NewAccounts(1);
        await _receiver.StartAsync();
        await StartAsync();
        var (forged, timeless, empty) = (
            WebhookPlatform.Event("a\0b", 1), WebhookPlatform.Event(accounts[0], 2),
            WebhookPlatform.Event(accounts[0], 3));
        timeless.DecidedUnixUs = long.MaxValue;
        empty.ClearFact();

        foreach (var recorded in (Wire.V1.Event[])[forged, timeless, empty])
        {
            await _platform.PublishAsync(recorded);
        }
        await _platform.PublishAsync(accounts, 1, 1);
        await _receiver.UntilTakenAsync(accounts, 1, _patience.Token);

        Assert.Single(_receiver.All, received => received.Account == accounts[0]);
    }

    private Task<(Billing.LocalStack.Processes.ChildProcess Process, string Address)> StartAsync(
        bool ready = true, params (string Name, string Value)[] settings) =>
        _platform.StartAsync(_schema, _receiver.Url, ready, settings);

    private async Task ParkedAsync(string account)
    {
        await using var store = _platform.Store(_schema);
        await Poll.UntilAsync(async () => (await store.FailingAsync("shop", 100, _patience.Token))
            .Any(failing => failing.StreamId == $"visa/{account}" && failing.NextIn is null));
    }

    private async Task NothingWaitsAsync()
    {
        await using var store = _platform.Store(_schema);
        await Poll.UntilAsync(async () => (await store.StatesAsync(_patience.Token)).Count == 0);
    }

    private Task<(int ExitCode, string Output)> CommandAsync(params string[] arguments) => CommandRun.ToEndAsync(
        _platform.Folder,
        ["webhooks", .. arguments, "--postgres", _platform.Postgres.ConnectionString, "--schema", _schema],
        new Dictionary<string, string?> { ["COLUMNS"] = "200" });

    internal static async Task<double> MetricAsync(string address, string name)
    {
        var text = await MetricsAsync(address);
        return text.Split('\n').Where(line => line.StartsWith(name, StringComparison.Ordinal))
            .Sum(line => double.Parse(line.Split(' ')[1], System.Globalization.CultureInfo.InvariantCulture));
    }

    private static async Task<string> MetricsAsync(string address)
    {
        using var http = new HttpClient();
        return await http.GetStringAsync(new Uri(address + "/metrics"), TestContext.Current.CancellationToken);
    }

    private static string Signed(Received taken) => "v1," + Convert.ToBase64String(HMACSHA256.HashData(
        Convert.FromBase64String(WebhookPlatform.Secret["whsec_".Length..]),
        Encoding.UTF8.GetBytes($"{taken.Id}.{taken.Timestamp}.{taken.Body}")));
}
