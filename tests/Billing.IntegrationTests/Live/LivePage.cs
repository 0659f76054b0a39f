using System.Net.Http.Json;
using System.Text;
using System.Text.Json.Nodes;
using Billing.IntegrationTests.Services;
using Billing.LocalStack;
using Billing.Messaging;
using Billing.Messaging.Kafka.Clients;
using Billing.Messaging.Kafka.DeadLetters;
using Billing.V1;
using Confluent.Kafka;

namespace Billing.IntegrationTests.Live;

/// <summary>The live page of a proxy over Kafka, in a browser.</summary>
[Collection(OverKafka.Name)]
public sealed class LivePage : IClassFixture<Browser>, IAsyncLifetime
{
    private const string Page = "live";
    private const string Injection = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>";

    private readonly KafkaStack _stack;
    private readonly Browser _browser;

    public LivePage(KafkaStack stack, Browser browser)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        Assert.SkipWhen(browser.Missing is not null, browser.Missing ?? "");
        (_stack, _browser) = (stack, browser);
    }

    private string Address => _stack.Stack.RestAddresses[0] + "/";

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        if (_browser.Missing is null && _stack.Missing is null)
        {
            await _browser.DoAsync("close", Page);
        }
    }

    [Fact]
    public async Task A_payment_can_be_made_with_the_keyboard_alone_and_passes_the_steps_in_order()
    {
        var account = StackFixture.NewAccount();
        await OpenAsync(new { url = Address, motion = "no-preference" });
        await UntilAsync("#lag", "payments.amex");
        await DoAsync("follow");

        Assert.True((bool)(await DoAsync("tabTo", new { selector = "#account" }))!, "the focus is not visible");
        await DoAsync("type", new { text = account });
        await DoAsync("press", new { key = "Tab" });
        await DoAsync("type", new { text = "Amex" });
        await DoAsync("press", new { key = "Tab" });
        await DoAsync("type", new { text = "7.05" });
        await DoAsync("press", new { key = "Enter" });
        var outcome = await UntilAsync("#outcome", "Accepted|Declined|[A-Z_]{5,}|must");

        Assert.Matches(@"^Accepted after [\d.,]+ ms\. Balance 7\.05 USD, version 1\.$", outcome);
        Assert.Equal(
            ["at-client", "at-proxy", "at-kafka", "at-backend", "at-store", "at-replies", "at-back", "at-answer"],
            Texts(await DoAsync("passed")));
        Assert.Equal(1, await _stack.CountEventsAsync(account));
        var partition = PartitionOf(account, Topics.Payments(PaymentType.Amex));
        Assert.Equal($"payments.amex / {partition}", await UntilAsync("#at-kafka .detail", "/"));
        foreach (var step in (string[])["kafka", "backend", "store", "replies", "back"])
        {
            await UntilAsync($"#at-{step} .time", @"^\+[\d.,]+ ms$");
        }
        await UntilAsync("#steps", account + "[^ ]* Amex · Accepted · made here");
        // Not only by colour.
        await UntilAsync("#steps .legend", @"1 To Kafka\s+2 In the topic");
        await UntilAsync(
            "#steps tbody .numbers", @"^1 [\d.,]+\s+2 [\d.,]+\s+3 [\d.,]+\s+4 [\d.,]+\s+5 [\d.,]+\s+6 [\d.,]+$");
        await AssertNoProblemsAsync();
    }

    [Fact]
    public async Task What_is_on_hold_can_be_captured_voided_and_given_back_with_the_keyboard_alone()
    {
        var account = StackFixture.NewAccount();
        await OpenAsync(new { url = Address });
        await DoAsync("tabTo", new { selector = "#account" });
        await DoAsync("type", new { text = account });
        await DoAsync("tabTo", new { selector = "#amount" });
        await DoAsync("type", new { text = "7.05" });

        await PressAsync("#hold");
        Assert.Matches(
            @"^On hold after [\d.,]+ ms\. Balance 0\.00 USD, version 1\.$",
            await UntilAsync("#outcome", "On hold|Declined|[A-Z_]{5,}|must"));
        await UntilAsync(
            "#totals",
            @"^Charged 0\.00 USD, given back 0\.00 USD, on hold 7\.05 USD\. The account: "
                + @"balance 0\.00 USD, on hold 7\.05 USD, available [\d.,]+ USD\.$");
        await DoAsync("tabTo", new { selector = "#part" });
        await DoAsync("type", new { text = "3.00" });
        await PressAsync("#capture");
        await UntilAsync(
            "#totals",
            @"^Charged 3\.00 USD, given back 0\.00 USD, on hold 4\.05 USD\. The account: "
                + @"balance 3\.00 USD, on hold 4\.05 USD");
        using var http = new HttpClient();
        using var frozen = await http.PutAsJsonAsync(
            new Uri(new Uri(Address), $"/v1/accounts/visa/{account}/status"),
            new { transaction_id = Guid.NewGuid(), account_status = "FROZEN" }, TestContext.Current.CancellationToken);
        frozen.EnsureSuccessStatusCode();
        await PressAsync("#void");
        await UntilAsync(
            "#totals",
            @"^Charged 3\.00 USD, given back 0\.00 USD, on hold 0\.00 USD\. The account: "
                + @"balance 3\.00 USD, on hold 0\.00 USD, available [\d.,]+ USD, frozen\.$");
        await PressAsync("#refund");
        await UntilAsync(
            "#totals", @"^Charged 3\.00 USD, given back 3\.00 USD, on hold 0\.00 USD\. The account: balance 0\.00 USD");

        Assert.Matches(
            @"^Gave 3\.00 USD back after [\d.,]+ ms\. Balance 0\.00 USD, version 5\.$",
            await UntilAsync("#outcome", "back|[A-Z_]{5,}"));
        Assert.Equal(5, await _stack.CountEventsAsync(account));
        await AssertNoProblemsAsync();

        async Task PressAsync(string button)
        {
            Assert.True((bool)(await DoAsync("tabTo", new { selector = button }))!, "the focus is not visible");
            await DoAsync("press", new { key = "Enter" });
        }
    }

    [Fact]
    public async Task A_refund_of_more_than_was_paid_is_refused_beside_its_field_and_nothing_is_given_back()
    {
        var account = StackFixture.NewAccount();
        await OpenAsync(new { url = Address });
        await DoAsync("tabTo", new { selector = "#account" });
        await DoAsync("type", new { text = account });
        await DoAsync("press", new { key = "Enter" });
        await UntilAsync("#totals", @"^Charged 12\.34 USD, given back 0\.00 USD");

        await DoAsync("tabTo", new { selector = "#part" });
        await DoAsync("type", new { text = "12.35" });
        await DoAsync("tabTo", new { selector = "#refund" });
        await DoAsync("press", new { key = "Enter" });

        await UntilAsync("#outcome[data-state=failed]", "12.34|payment");
        Assert.Equal(
            "true", (string?)await DoAsync("attribute", new { selector = "#part:focus", name = "aria-invalid" }));
        Assert.Equal(1, await _stack.CountEventsAsync(account));
    }

    [Fact]
    public async Task Throughput_latency_and_steps_follow_the_load()
    {
        await OpenAsync(new { url = Address });
        await UntilAsync("#rate", @"^\d+$");
        using var stop = new CancellationTokenSource();
        var load = LoadAsync(stop.Token);

        var rate = await DoAsync("untilAtLeast", new { selector = "#rate", value = 1 });
        await UntilAsync("#p50", @"^[\d.,]+$");
        await UntilAsync("#p99", @"^[\d.,]+$");
        await UntilAsync("#steps", "load-");
        await stop.CancelAsync();
        await load;
        await UntilAsync("#rate", "^0$");

        Assert.InRange((double)rate!, 1, double.MaxValue);
        await AssertNoProblemsAsync();
    }

    [Fact]
    public async Task What_moves_can_be_paused_with_the_keyboard_and_goes_on_from_the_newest_state()
    {
        await OpenAsync(new { url = Address, motion = "no-preference" });
        await UntilAsync("#rate", @"^\d+$");
        await DoAsync("tabTo", new { selector = "#pause" });
        await DoAsync("press", new { key = "Enter" });
        await UntilAsync("#status", "^Paused$");
        await DoAsync("observe");
        using var stop = new CancellationTokenSource();
        var load = LoadAsync(stop.Token);

        await DoAsync("received", new { more = 3 });
        Assert.Equal(0, (int)(await DoAsync("changes"))!);
        await DoAsync("press", new { key = "Enter" });
        await UntilAsync("#status", "^Live$");
        await DoAsync("untilAtLeast", new { selector = "#rate", value = 1 });
        await stop.CancelAsync();
        await load;

        await AssertNoProblemsAsync();
    }

    [Fact]
    public async Task An_error_of_the_page_is_called_so_and_not_blamed_on_the_proxy()
    {
        await OpenAsync(new { url = Address });
        await UntilAsync("#status", "^Live$");

        await DoAsync("remove", new { selector = "#rate" });

        Assert.StartsWith(
            "This page has an error, reload it: ",
            await UntilAsync("#status", "error|respond"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_backend_appears_with_its_partitions_and_disappears_when_it_is_killed()
    {
        await OpenAsync(new { url = Address });
        await UntilAsync("#backends", "Payment backend");
        var before = await MembersAsync();
        var further = await _stack.Stack.AddAsync(ServiceRole.PaymentBackend, 9, CancellationToken.None);
        try
        {
            await WaitForOwnersAsync(before + 1);

            further.Process.Kill();
            await WaitForOwnersAsync(before);
        }
        finally
        {
            await _stack.Stack.RemoveAsync(further);
        }
        await AssertNoProblemsAsync();
    }

    [Fact]
    public async Task Failures_and_dead_letters_are_shown_and_input_of_callers_is_never_interpreted_as_HTML()
    {
        await OpenAsync(new { url = Address });
        await UntilAsync("#failures", "Failed lately");
        await UntilAsync("#letter-count", @"^[\d,]+$");

        using var http = new HttpClient();
        using var body = new StringContent(
            new JsonObject { ["account_id"] = "a", ["payment_type"] = Injection[..39], ["amount"] = null }
                .ToJsonString(),
            Encoding.UTF8, "application/json");
        using var refused = await http.PutAsync(new Uri($"{Address}v1/payments/{Guid.NewGuid()}"), body);
        var reason = $"{Injection} {Guid.NewGuid()}";
        await ProduceDeadLetterAsync(reason);
        var failures = await UntilAsync("#failures .body", @"payment_type[\s\S]*onerror");
        var letters = await UntilAsync("#letters .body", reason.Split(' ')[^1]);

        Assert.Equal(System.Net.HttpStatusCode.BadRequest, refused.StatusCode);
        Assert.Contains("400 InvalidArgument · INVALID_FIELD", failures, StringComparison.Ordinal);
        Assert.Contains(Injection[..20], failures, StringComparison.Ordinal);
        Assert.Contains(reason, letters, StringComparison.Ordinal);
        Assert.False((bool)(await DoAsync("injected"))!);
        await AssertNoProblemsAsync();
    }

    [Fact]
    public async Task An_invalid_field_gets_the_focus_and_its_reason_is_shown()
    {
        await OpenAsync(new { url = Address });
        await DoAsync("tabTo", new { selector = "#account" });
        await DoAsync("type", new { text = "no such/account" });
        await DoAsync("press", new { key = "Enter" });

        await UntilAsync("#outcome", "^account_id");
        Assert.Equal(
            "true", (string?)await DoAsync("attribute", new { selector = "#account:focus", name = "aria-invalid" }));
        // The browser itself logs a line for every status of 400 and above.
        Assert.All(
            Texts(await DoAsync("problems")),
            problem => Assert.Contains("400 (Bad Request)", problem, StringComparison.Ordinal));
    }

    [Fact]
    public async Task The_page_asks_for_a_required_token_and_then_connects()
    {
        await OpenAsync(new { url = Address, refuseWithout = "s3cret" });
        await UntilAsync("#token", "requires a token");
        await UntilAsync("#status", "Waiting for a token");
        await DoAsync("type", new { text = "s3cret" });
        await DoAsync("press", new { key = "Enter" });

        await UntilAsync("#status", "^Live$");
        await UntilAsync("#lag", "payments.visa");
    }

    [Fact]
    public async Task A_lost_connection_is_shown_and_reestablished_when_the_proxy_is_back()
    {
        var proxy = await _stack.Stack.AddAsync(
            ServiceRole.Proxy, 8, CancellationToken.None,
            new Dictionary<string, string> { ["Billing__Proxy__DrainTimeout"] = "01:00:00" });
        await OpenAsync(new { url = proxy.RestAddress + "/" });
        await UntilAsync("#status", "^Live$");

        Assert.True(await proxy.Process.StopAsync(Patience), "an open stream delayed the proxy's shutdown");
        await UntilAsync("#status", "^Connection lost");
        // Outdated values are still legible.
        Assert.Empty(Texts((await DoAsync("axe"))!["violations"]));
        proxy = await _stack.Stack.AddAsync(ServiceRole.Proxy, 8, CancellationToken.None);
        await UntilAsync("#status", "^Live$");
        await _stack.Stack.RemoveAsync(proxy);
    }

    [Theory]
    [InlineData("light", 1280)]
    [InlineData("dark", 1280)]
    [InlineData("light", 360)]
    public async Task The_page_is_accessible_in_light_and_dark_on_a_wide_screen_and_a_phone(string scheme, int width)
    {
        await OpenAsync(new { url = Address, scheme, width });
        using var stop = new CancellationTokenSource();
        var load = LoadAsync(stop.Token);
        await UntilAsync("#lag", "payments.visa");
        await UntilAsync("#backends", "Balance backend");
        await UntilAsync("#steps", "load-");
        await DoAsync("tabTo", new { selector = "#account" });
        await DoAsync("press", new { key = "Enter" });
        await UntilAsync("#totals", "^Charged");

        var found = (await DoAsync("axe"))!;
        var outline = (string)(await DoAsync("outline"))!;
        await PictureAsync(width < 500 ? "phone" : scheme, width);
        await stop.CancelAsync();
        await load;

        Assert.Empty(Texts(found["violations"]));
        Assert.InRange((int)found["contrasts"]!, 40, int.MaxValue);
        Assert.Equal(0, (int)(await DoAsync("overflow"))!);
        Assert.Equal(scheme == "dark" ? "rgb(14, 18, 23)" : "rgb(244, 245, 247)", (string?)await DoAsync("background"));
        Assert.All(
            (string[])["banner", "main", "contentinfo", "heading \"Billing live\" [level=1]", "heading \"Lag per "
                + "partition\" [level=2]",
                "table \"Backends and their assigned partitions\"", "textbox \"Account\"", "combobox \"Type\"",
                "button \"Pay\"", "button \"Put on hold\"",
                "textbox \"How much of it\"", "button \"Capture\"", "button \"Void\"", "button \"Refund\"",
                "img \"Throughput of the last two minutes"],
            expected => Assert.Contains(expected, outline, StringComparison.Ordinal));
        await AssertNoProblemsAsync();
    }

    private Task<JsonNode?> DoAsync(string name, object? parameters = null) => _browser.DoAsync(name, Page, parameters);

    private async Task OpenAsync(object parameters) => await DoAsync("open", parameters);

    private async Task<string> UntilAsync(string selector, string matches) =>
        (string)(await DoAsync("until", new { selector, matches }))!;

    private async Task<int> MembersAsync() => (int)(await DoAsync("count", new { selector = "#backends tbody tr" }))!;

    private async Task WaitForOwnersAsync(int members) =>
        await DoAsync("untilCount", new { selector = "#backends tbody tr:has(.chips)", value = members });

    private async Task AssertNoProblemsAsync() => Assert.Empty(Texts(await DoAsync("problems")));

    private static IEnumerable<string> Texts(JsonNode? texts) => texts!.AsArray().Select(text => (string)text!);

    // The load goes over REST, so that the page also receives the web server's own metrics.
    private async Task LoadAsync(CancellationToken stop)
    {
        using var http = new HttpClient { BaseAddress = new Uri(Address) };
        await Task.WhenAll(Enumerable.Range(0, 4).Select(async caller =>
        {
            while (!stop.IsCancellationRequested)
            {
                using var body = new StringContent(
                    $$$"""{"account_id":"load-{{{caller}}}","payment_type":"visa","amount":"""
                        + """{"currency_code":"USD","units":1}}""",
                    Encoding.UTF8, "application/json");
                using var answer = await http.PutAsync(
                    new Uri($"v1/payments/{Guid.NewGuid()}", UriKind.Relative), body, CancellationToken.None);
                Assert.Equal(System.Net.HttpStatusCode.OK, answer.StatusCode);
            }
        }));
    }

    private async Task ProduceDeadLetterAsync(string reason)
    {
        using var producer = Producer();
        await producer.ProduceAsync(Topics.DeadLetters, new Message<string, byte[]>
        {
            Key = "key",
            Value = Encoding.UTF8.GetBytes("value"),
            Headers = new Headers
            {
                { DeadLetterPublisher.ReasonHeader, Encoding.UTF8.GetBytes(reason) },
                { DeadLetterPublisher.TopicHeader, Encoding.UTF8.GetBytes(Injection) },
            },
        });
    }

    private int PartitionOf(string account, string topic)
    {
        using var consumer = KafkaClients.Consumer<string, byte[]>(
            new ConsumerConfig
            {
                BootstrapServers = _stack.Stack.BootstrapServers,
                GroupId = "live-page-tests",
                AutoOffsetReset = AutoOffsetReset.Earliest,
            });
        using var admin = new DependentAdminClientBuilder(consumer.Handle).Build();
        var partitions = admin.GetMetadata(topic, Patience).Topics.Single().Partitions;
        consumer.Assign(partitions.Select(p => new TopicPartitionOffset(topic, p.PartitionId, Offset.Beginning)));
        while (consumer.Consume(Patience) is { } record)
        {
            if (record.Message.Key == account)
            {
                return record.Partition.Value;
            }
        }
        throw new InvalidOperationException($"{topic} has no record of {account}.");
    }

    private IProducer<string, byte[]> Producer() => KafkaClients.Producer<string, byte[]>(
        new ProducerConfig { BootstrapServers = _stack.Stack.BootstrapServers, Acks = Acks.All });

    // Takes the screenshots of docs/live-page.md.
    private async Task PictureAsync(string name, int width)
    {
        if (Environment.GetEnvironmentVariable("BILLING_LIVE_PICTURES") is { Length: > 0 } folder)
        {
            await DoAsync("picture", new
            {
                path = Path.Combine(Path.GetFullPath(folder, Repository.Root), $"live-{name}.png"),
                height = width < 500 ? 1560 : 1360,
            });
        }
    }
}
