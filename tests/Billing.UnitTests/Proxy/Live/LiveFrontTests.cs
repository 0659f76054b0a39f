using System.Net;
using System.Net.Http.Json;
using System.Security.Claims;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Billing.Proxy.Limits;
using Billing.Proxy.Live;
using Billing.Proxy.Security;
using Billing.UnitTests.Testing;
using Grpc.Health.V1;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.DependencyInjection;

namespace Billing.UnitTests.Proxy.Live;

/// <summary>The live page of a proxy, over HTTP.</summary>
public sealed partial class LiveFrontTests : IAsyncLifetime
{
    private ProxyHost? _proxy;
    private HttpClient? _http;

    private ProxyHost Proxy => _proxy!;

    private HttpClient Http => _http!;

    public async ValueTask InitializeAsync()
    {
        _proxy = await ProxyHost.StartAsync(new FakeBackend(), withRest: true);
        _http = new HttpClient { BaseAddress = _proxy.Rest };
    }

    public async ValueTask DisposeAsync()
    {
        Http.Dispose();
        await Proxy.DisposeAsync();
    }

    [Fact]
    public async Task Every_file_of_the_page_has_a_content_security_policy_and_is_cached()
    {
        var page = await Http.GetStringAsync(new Uri("/", UriKind.Relative));
        var files = LiveAssets.All.Select(asset => asset.Name == "index.html" ? "/" : "/live/" + asset.Name).ToList();

        Assert.True(files.Count >= 5);
        Assert.DoesNotContain("style=", page, StringComparison.Ordinal);
        Assert.DoesNotContain("://", page, StringComparison.Ordinal);
        foreach (var file in files)
        {
            using var first = await Http.GetAsync(new Uri(file, UriKind.Relative));
            using var request = new HttpRequestMessage(HttpMethod.Get, file);
            request.Headers.IfNoneMatch.Add(first.Headers.ETag!);
            using var again = await Http.SendAsync(request);

            Assert.Equal((HttpStatusCode.OK, HttpStatusCode.NotModified), (first.StatusCode, again.StatusCode));
            Assert.Equal("nosniff", first.Headers.GetValues("X-Content-Type-Options").Single());
            var policy = first.Headers.GetValues("Content-Security-Policy").Single();
            Assert.StartsWith("default-src 'self';", policy, StringComparison.Ordinal);
            Assert.DoesNotContain("unsafe", policy, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Events_begin_with_the_settings_and_continue_with_one_snapshot_per_second()
    {
        using var events = await WatchAsync();

        var hello = await events.NextAsync();
        var snapshot = await events.NextAsync();
        var next = await events.NextAsync();

        Assert.Equal("test", hello.GetProperty("transport").GetString());
        Assert.NotEmpty(hello.GetProperty("instead").GetString()!);
        Assert.Equal(50_000, hello.GetProperty("inFlightMax").GetInt32());
        Assert.True(next.GetProperty("at").GetInt64() > snapshot.GetProperty("at").GetInt64());
        Assert.Equal(JsonValueKind.Null, snapshot.GetProperty("kafka").ValueKind);
    }

    [Fact]
    public async Task Failures_over_gRPC_and_REST_are_reported_with_their_reasons()
    {
        using var events = await WatchAsync();
        await events.NextAsync();
        await events.NextAsync();

        await Assert.ThrowsAsync<Grpc.Core.RpcException>(
            async () => await Proxy.Client.MakePaymentAsync(new V1.MakePaymentRequest()));
        using var refused = await Http.GetAsync(new Uri("/v1/accounts/diners/a/balance", UriKind.Relative));
        JsonElement failures;
        do
        {
            failures = (await events.NextAsync()).GetProperty("failures");
        }
        while (failures.GetArrayLength() < 2);

        Assert.Equal(
            [
                "GET /v1/accounts/{payment_type}/{account_id}/balance 400 InvalidArgument INVALID_FIELD",
                "billing.v1.BillingService/MakePayment InvalidArgument INVALID_FIELD",
            ],
            failures.EnumerateArray()
                .Select(f => $"{f.GetProperty("method")} {f.GetProperty("status")} {f.GetProperty("reason")}")
                .Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Calls_are_timed_if_they_have_one_answer_and_counted_if_they_fail_over_gRPC_and_REST()
    {
        using var events = await WatchAsync();
        await events.NextAsync();

        await Proxy.Client.MakePaymentAsync(Samples.Payment());
        using var paid = await Http.PutAsJsonAsync(
            new Uri("/v1/payments/" + Samples.TransactionId, UriKind.Relative), new
            {
                account_id = "a",
                payment_type = "VISA",
                amount = new { currency_code = "USD", units = 5 },
            });
        using (var stream = Proxy.Client.MakePayments())
        {
            await stream.RequestStream.CompleteAsync();
            Assert.False(await stream.ResponseStream.MoveNext(CancellationToken.None));
        }
        await new Health.HealthClient(Grpc.Net.Client.GrpcChannel.ForAddress(Proxy.Address)).CheckAsync(
            new HealthCheckRequest());
        using var page = await Http.GetAsync(new Uri("/", UriKind.Relative));
        await Assert.ThrowsAsync<Grpc.Core.RpcException>(
            async () => await Proxy.Client.CheckBalanceAsync(new V1.CheckBalanceRequest()));
        using var refused = await Http.GetAsync(new Uri("/v1/accounts/diners/a/balance", UriKind.Relative));
        using var unknown = await Http.GetAsync(new Uri("/v1/nothing", UriKind.Relative));
        int failed;
        JsonElement snapshot;
        do
        {
            snapshot = await events.NextAsync();
            failed = snapshot.GetProperty("seconds").EnumerateArray()
                .Sum(second => second.GetProperty("failed").GetInt32());
        }
        while (failed < 2);

        Assert.Equal(HttpStatusCode.OK, paid.StatusCode);
        Assert.Equal((2, 2), (failed, snapshot.GetProperty("latency").GetProperty("count").GetInt64()));
    }

    [Fact]
    public async Task A_snapshot_that_is_late_leaves_out_no_second()
    {
        var time = new ManualTime();
        await using var proxy = await ProxyHost.StartAsync(new FakeBackend(), withRest: true, time: time);
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var events = await WatchAsync(http);
        await events.NextAsync();
        using var refused = await http.GetAsync(new Uri("/v1/accounts/diners/a/balance", UriKind.Relative));

        time.Set(TimeSpan.FromSeconds(2));
        var snapshot = events.NextAsync();
        await time.RunToEndAsync(snapshot);
        var seconds = (await snapshot).GetProperty("seconds").EnumerateArray();

        Assert.Equal(1, seconds.Sum(second => second.GetProperty("failed").GetInt32()));
    }

    [Fact]
    public async Task Calls_of_methods_that_do_not_exist_are_one_kind_of_failure_whatever_their_paths()
    {
        using var events = await WatchAsync();
        await events.NextAsync();
        await events.NextAsync();

        foreach (var path in (string[])["/made.up/A", "/made.up/B", "/billing.v1.MadeUp/A"])
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(Proxy.Address + path))
            {
                Version = HttpVersion.Version20,
                VersionPolicy = HttpVersionPolicy.RequestVersionExact,
                Content = new ByteArrayContent(new byte[5]) { Headers = { ContentType = new("application/grpc") } },
            };
            using var refused = await Http.SendAsync(request);
        }
        JsonElement failures;
        do
        {
            failures = (await events.NextAsync()).GetProperty("failures");
        }
        while (failures.EnumerateArray().Sum(f => f.GetProperty("count").GetInt64()) < 3);

        var failed = Assert.Single(failures.EnumerateArray());
        Assert.DoesNotContain("made", failed.GetRawText(), StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public async Task A_watcher_above_the_limit_is_refused_with_the_name_of_the_setting()
    {
        var all = new List<Events>();
        for (var i = 0; i < new LiveOptions().WatchersMax; i++)
        {
            all.Add(await WatchAsync());
        }

        using var refused = await Http.GetAsync(
            new Uri("/live/events", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead);
        var problem = await refused.Content.ReadAsStringAsync();
        all.ForEach(events => events.Dispose());

        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        Assert.Contains("Billing:Live:WatchersMax", problem, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_stopping_proxy_ends_the_stream_of_events_cleanly()
    {
        using var events = await WatchAsync();
        await events.NextAsync();

        await Proxy.StopAsync();

        await Assert.ThrowsAsync<EndOfStreamException>(async () =>
        {
            while (true)
            {
                await events.NextAsync();
            }
        });
    }

    [Fact]
    public async Task A_watcher_that_does_not_read_is_dropped_and_the_others_are_kept()
    {
        var watchers = new Watchers(Microsoft.Extensions.Options.Options.Create(new LiveOptions()));
        var dropped = new TaskCompletionSource();
        var quickDropped = false;
        using var slow = watchers.TryEnter(() => dropped.TrySetResult())!;
        using var quick = watchers.TryEnter(() => quickDropped = true)!;
        await using var messages = quick.Messages(TestContext.Current.CancellationToken)
            .GetAsyncEnumerator(TestContext.Current.CancellationToken);

        for (var i = 0; i < 10; i++)
        {
            watchers.Publish(new byte[] { 1 });
            Assert.True(await messages.MoveNextAsync());
        }

        await dropped.Task;
        Assert.False(quickDropped);
        Assert.Equal(2, watchers.Count);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_message_that_is_being_sent_when_the_stream_has_to_end_is_sent_whole_or_the_page_is_disconnected(
        bool reads)
    {
        var time = new ManualTime();
        await using var proxy = await ProxyHost.StartAsync(
            new FakeBackend(), withRest: true, time: time,
            settings: new Dictionary<string, string?> { ["Billing:Limits:ConnectionAgeMax"] = "00:05:00" });
        using var body = new HeldBody();
        var connection = new DefaultConnectionContext();
        using var age = new ConnectionAge(connection, TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(1), time);
        using var disconnected = new CancellationTokenSource();
        var http = new DefaultHttpContext
        {
            User = new ClaimsPrincipal(new Caller("somebody")),
            RequestAborted = disconnected.Token,
        };
        http.Features.Set<IHttpRequestLifetimeFeature>(new Lifetime(disconnected));
        http.Features.Set(age);
        http.Response.Body = body;
        var watching = proxy.Services.GetRequiredService<LiveFront>().WatchAsync(http);
        var write = await body.Begun.Task;

        time.Advance(TimeSpan.FromSeconds(1) + StreamEnd.Grace);
        var isCutOff = write.IsCancellationRequested;
        if (reads)
        {
            body.Written.SetResult();
        }
        else
        {
            await time.RunToEndAsync(watching, TimeSpan.FromMilliseconds(100));
        }
        await watching;

        Assert.False(isCutOff);
        Assert.Equal(!reads, disconnected.IsCancellationRequested);
    }

    [Fact]
    public void Every_address_that_the_page_requests_is_one_of_the_proxy()
    {
        var scripts = LiveAssets.All.Where(asset => asset.Name.EndsWith(".js", StringComparison.Ordinal))
            .Select(asset => Encoding.UTF8.GetString(asset.Content));
        var requested = scripts.SelectMany(script => Requests().Matches(script))
            .Select(match => "/" + match.Groups[1].Value).Distinct().ToList();
        var served = Proxy.Endpoints.Select(endpoint => endpoint.RoutePattern.RawText ?? "").ToList();

        Assert.Contains("/v1/captures", requested);
        Assert.All(requested, path =>
            Assert.Contains(served, route => route == path || route.StartsWith(path + "/{", StringComparison.Ordinal)));
    }

    [Fact]
    public void The_page_is_left_out_of_the_OpenAPI_document_and_is_for_operators()
    {
        var mine = Proxy.Endpoints.Where(e => e.RoutePattern.RawText is { } route
            && (route == "/" || route.StartsWith("/live/", StringComparison.Ordinal))).ToList();

        Assert.True(mine.Count >= 7);
        Assert.All(mine, endpoint =>
        {
            Assert.NotNull(endpoint.Metadata.GetMetadata<Billing.Proxy.Security.OperatorEndpoint>());
            Assert.NotNull(
                endpoint.Metadata.GetMetadata<Microsoft.AspNetCore.Routing.IExcludeFromDescriptionMetadata>());
        });
    }

    [GeneratedRegex("""['`]((?:v1|live)/[a-z]+)['`/]""")]
    private static partial Regex Requests();

    private Task<Events> WatchAsync() => WatchAsync(Http);

    private static async Task<Events> WatchAsync(HttpClient http)
    {
        var response = await http.GetAsync(
            new Uri("/live/events", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead);
        Assert.Equal("text/event-stream", response.Content.Headers.ContentType?.MediaType);
        return new Events(response, await response.Content.ReadAsStreamAsync());
    }

    /// <summary>A body of which no write completes until it may, or its token is cancelled.</summary>
    private sealed class HeldBody : MemoryStream
    {
        public TaskCompletionSource<CancellationToken> Begun { get; } = new(
            TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Written { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public override async ValueTask WriteAsync(
            ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Begun.TrySetResult(cancellationToken);
            await Written.Task.WaitAsync(cancellationToken);
        }
    }

    private sealed class Lifetime(CancellationTokenSource disconnected) : IHttpRequestLifetimeFeature
    {
        public CancellationToken RequestAborted { get; set; } = disconnected.Token;

        public void Abort() => disconnected.Cancel();
    }

    private sealed class Events(HttpResponseMessage response, Stream stream) : IDisposable
    {
        private readonly StreamReader _reader = new(stream);

        /// <summary>The next event's data.</summary>
        public async Task<JsonElement> NextAsync()
        {
            while (true)
            {
                var line = await _reader.ReadLineAsync() ?? throw new EndOfStreamException();
                if (line.StartsWith("data: ", StringComparison.Ordinal))
                {
                    using var json = JsonDocument.Parse(line[6..]);
                    return json.RootElement.Clone();
                }
            }
        }

        public void Dispose()
        {
            _reader.Dispose();
            response.Dispose();
        }
    }
}
