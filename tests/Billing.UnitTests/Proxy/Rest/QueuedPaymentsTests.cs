using System.Buffers.Text;
using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Billing.Contracts;
using Billing.Messaging;
using Billing.Proxy.Calls;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy.Rest;

/// <summary>Payments over REST with the preference respond-async.</summary>
public sealed class QueuedPaymentsTests
{
    private const string Body =
        """{"account_id":"acct","payment_type":"visa","amount":{"currency_code":"USD","units":1}}""";

    private readonly FakeBackend _queued = new(storesCommands: true)
    {
        Answer = command => Task.FromResult(command.PaymentStatus is null ? FakeBackend.Accepted(command) : Accepted),
    };

    /// <summary>What may become of a queued payment: what a backend answers, and what the caller sees.</summary>
    public static TheoryData<Reply, HttpStatusCode, string> Answers => new()
    {
        { Accepted, HttpStatusCode.OK, "ACCEPTED" },
        {
            new Reply
            {
                PaymentStatus = new()
                {
                    Payment =
                        new() { Outcome = V1.PaymentOutcome.Declined, DeclineReason = V1.DeclineReason.AccountFrozen },
                },
            },
            HttpStatusCode.OK, "DECLINED"
        },
        {
            new Reply { PaymentStatus = new() { Error = new() { Reason = ErrorReasons.CommandExpired } } },
            HttpStatusCode.OK, "FAILED"
        },
        { Error(StatusCode.DeadlineExceeded, ErrorReasons.NoAnswerInTime), HttpStatusCode.OK, "PENDING" },
        { Error(StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired), HttpStatusCode.OK, "PENDING" },
        {
            Error(StatusCode.AlreadyExists, ErrorReasons.TransactionIdReused),
            HttpStatusCode.Conflict, ErrorReasons.TransactionIdReused
        },
        {
            Error(StatusCode.NotFound, ErrorReasons.PaymentNotFound),
            HttpStatusCode.NotFound, ErrorReasons.PaymentNotFound
        },
        {
            Error(StatusCode.Unavailable, ErrorReasons.EventStoreUnavailable),
            HttpStatusCode.ServiceUnavailable, ErrorReasons.EventStoreUnavailable
        },
        {
            Error(StatusCode.Internal, ErrorReasons.ProcessingFailed),
            HttpStatusCode.InternalServerError, ErrorReasons.ProcessingFailed
        },
    };

    private static Reply Accepted =>
        new() { PaymentStatus = new() { Payment = new() { Outcome = V1.PaymentOutcome.Accepted, Version = 1 } } };

    [Theory]
    [InlineData("respond-async", true)]
    [InlineData("Respond-ASYNC", true)]
    [InlineData("wait=5, respond-async", true)]
    [InlineData("respond-async; x=1, handling=strict", true)]
    [InlineData("respond-async=true", false)]
    [InlineData("respond-async-please", false)]
    [InlineData("respond", false)]
    [InlineData("note=\"a, respond-async\"", false)]
    [InlineData("note=\"a, respond-async", false)]
    [InlineData("wait=5", false)]
    [InlineData(", ,", false)]
    public async Task Only_the_preference_respond_async_is_applied(string prefer, bool isApplied)
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);

        using var response = await PayAsync(proxy, prefer);

        Assert.Equal(isApplied ? HttpStatusCode.Accepted : HttpStatusCode.OK, response.StatusCode);
        Assert.Equal(isApplied, response.Headers.Contains("Preference-Applied"));
    }

    [Fact]
    public async Task A_payment_is_accepted_when_the_transport_has_it_and_keeps_its_place_until_it_is_answered()
    {
        var answer = new TaskCompletionSource<Reply>();
        _queued.Answer = _ => answer.Task;
        await using var proxy = await ProxyHost.StartAsync(
            _queued, options => (options.InFlightMax, options.StreamWindow) = (1, 1), withRest: true);

        using var taken = await PayAsync(proxy, "respond-async");
        using var refused = await PayAsync(proxy, "respond-async");
        answer.SetResult(new Reply());
        await proxy.WaitUntilIdleAsync();
        using var again = await PayAsync(proxy, "respond-async");

        Assert.Equal(HttpStatusCode.Accepted, taken.StatusCode);
        Assert.Equal(HttpStatusCode.TooManyRequests, refused.StatusCode);
        Assert.Equal(HttpStatusCode.Accepted, again.StatusCode);
    }

    [Fact]
    public async Task Only_the_command_of_a_payment_that_was_answered_202_says_that_it_is_queued()
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);

        using var taken = await PayAsync(proxy, "respond-async");
        using var waited = await PayAsync(proxy, "wait=5");
        await proxy.Client.MakePaymentAsync(Samples.Payment());
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var status = await http.GetAsync(taken.Headers.Location);

        Assert.Equal([true, false, false, false], _queued.Commands.Select(command => command.IsQueued));
    }

    [Theory]
    [InlineData(Body)]
    [InlineData(
        """{"account_id":"acct","payment_type":"visa","amount":{"currency_code":"USD","units":1,"nanos":"""
        + """500000000},"notes":{"reference":"order 7"}}""")]
    [InlineData(
        """{"account_id":"acct","payment_type":"VISA","amount":{"currency_code":"KWD","units":"1","nanos":"""
        + """5000000},"notes":{"metadata":{"shop":"Z\u00fcrich","a":"1"}}}""")]
    [InlineData(
        """{"account_id":"A.b_c-0123456789012345678901234567890123456789012345678901234567","payment_"""
        + """type":"Amex","amount":{"currency_code":"USD","units":1},"notes":{}}""")]
    public async Task The_link_asks_about_the_whole_payment_behind_it_on_its_partition(string body)
    {
        _queued.Partition = 7;
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };

        using var taken = await PayAsync(proxy, "respond-async", body);
        using var status = await http.GetAsync(taken.Headers.Location);

        var (paid, asked) = (_queued.Commands.First(), _queued.Commands.Last());
        Assert.Equal(HttpStatusCode.OK, status.StatusCode);
        Assert.Equal(new PaymentStatusRequest(Samples.Question(paid.Payment)) { Partition = 7 }, asked.PaymentStatus);
        Assert.Equal(paid.TransactionId, asked.TransactionId);
        Assert.Equal([null, 7], _queued.Requests.Select(request => request.Partition));
        Assert.Equal("no-store", status.Headers.CacheControl?.ToString());
    }

    [Fact]
    public async Task The_link_tells_nothing_of_the_payments_contents()
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);
        var ids = new[] { Guid.NewGuid().ToString(), Guid.NewGuid().ToString() };

        using var one = await PayAsync(proxy, "respond-async", Body, ids[0]);
        using var other = await PayAsync(
            proxy, "respond-async",
            """{"account_id":"acct","payment_type":"visa","amount":{"currency_code":"EUR","units":987654},"notes":"""
                + """{"reference":"a secret order"}}""",
            ids[1]);

        // The account is in it, and has to be.
        var links = new[] { one, other }.Select(taken => taken.Headers.Location!.OriginalString).ToList();
        Assert.All(links.Zip(ids), pair =>
            Assert.StartsWith($"/v1/payments/{pair.Second}/status?link=", pair.First, StringComparison.Ordinal));
        Assert.Equal(links[0].Length, links[1].Length);
        Assert.DoesNotContain(
            "secret", Encoding.Latin1.GetString(Base64Url.DecodeFromChars(links[1].Split('=')[1])),
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_link_that_was_altered_anywhere_is_refused_by_its_name_and_asks_nothing()
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var taken = await PayAsync(proxy, "respond-async");
        var path = taken.Headers.Location!.OriginalString.Split('?')[0];
        var link = taken.Headers.Location!.OriginalString.Split("link=")[1];
        var altered = Enumerable.Range(0, link.Length).SelectMany(i => (string[])
        [
            link.Remove(i, 1), link.Insert(i, "A"), link[..i] + (link[i] == 'A' ? 'B' : 'A') + link[(i + 1)..],
        ])
            .Except([link]).Concat(
                [
                    "", link + "=", link + "==", link + "%20", "%20" + link, link + "&link=" + link, link[..10], "x",
                    "...", "%00", new string('A', 5000), new string('A', 200),
                ]);
        string[] urls =
        [
            path, path + "?link", .. altered.Select(text => $"{path}?link={text}"),
            $"/v1/payments/{Guid.NewGuid()}/status?link={link}",
            .. "89ab".Select(digit => $"/v1/payments/{Samples.TransactionId[..^1]}{digit}/status?link={link}"),
        ];
        foreach (var url in urls)
        {
            using var refused = await http.GetAsync(new Uri(url, UriKind.Relative));
            Assert.Equal((HttpStatusCode.BadRequest, ErrorReasons.InvalidField, "link"), await ProblemAsync(refused));
        }

        Assert.Single(_queued.Commands);
    }

    [Theory]
    [InlineData("/v1/payments/1/status?link=LINK", "transaction_id")]
    [InlineData("/v1/payments/1/status", "transaction_id")]
    [InlineData("/v1/payments/00000000-0000-0000-0000-000000000000/status?link=LINK", "transaction_id")]
    [InlineData("/v1/payments/ID/status?link=LINK&x=1", "x")]
    [InlineData("/v1/payments/ID/status?Link=LINK", "Link")]
    [InlineData("/v1/payments/ID/status?link=LINK&deadline_unix_us=1", "deadline_unix_us")]
    [InlineData(
        "/v1/payments/ID/status?account_id=acct&payment_type=visa&amount.currency_code=USD&amount.units=1&"
            + "deadline_unix_us=1", "account_id")]
    public async Task An_address_with_other_parts_is_refused_by_their_names(string url, string field)
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        var link = StatusLink.Of(Samples.Payment(), 0);

        using var refused = await http.GetAsync(new Uri(
            url.Replace("ID", Samples.TransactionId, StringComparison.Ordinal)
                .Replace("LINK", link, StringComparison.Ordinal),
            UriKind.Relative));

        Assert.Equal((HttpStatusCode.BadRequest, ErrorReasons.InvalidField, field), await ProblemAsync(refused));
        Assert.Empty(_queued.Commands);
    }

    [Fact]
    public async Task A_link_works_at_every_proxy_and_with_the_id_in_any_letters()
    {
        await using var first = await ProxyHost.StartAsync(_queued, withRest: true);
        using var taken = await PayAsync(first, "respond-async", id: "0123ABCD-89ab-cdef-0123-456789abCDEF");
        await first.DisposeAsync();
        await using var second = await ProxyHost.StartAsync(_queued, withRest: true);
        using var http = new HttpClient { BaseAddress = second.Rest };
        var location = taken.Headers.Location!.OriginalString;

        foreach (var id in (string[])
        [
            "0123ABCD-89ab-cdef-0123-456789abCDEF", "0123abcd-89ab-cdef-0123-456789abcdef",
            "0123ABCD-89AB-CDEF-0123-456789ABCDEF",
        ])
        {
            using var status = await http.GetAsync(new Uri(
                location.Replace("0123ABCD-89ab-cdef-0123-456789abCDEF", id, StringComparison.Ordinal),
                UriKind.Relative));
            using var answer = JsonDocument.Parse(await status.Content.ReadAsStringAsync());
            Assert.Equal(("ACCEPTED", id), (
                answer.RootElement.GetProperty("status").GetString(),
                answer.RootElement.GetProperty("transaction_id").GetString()));
        }
    }

    [Theory]
    [MemberData(nameof(Answers))]
    public async Task The_status_is_what_has_become_of_the_payment_and_an_error_is_an_error(
        Reply reply, HttpStatusCode code, string name)
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var taken = await PayAsync(proxy, "respond-async");
        _queued.Answer = _ => Task.FromResult(reply);

        using var status = await http.GetAsync(taken.Headers.Location);

        using var answer = JsonDocument.Parse(await status.Content.ReadAsStringAsync());
        Assert.Equal(code, status.StatusCode);
        Assert.Equal(name, answer.RootElement.GetProperty(code == HttpStatusCode.OK ? "status" : "reason").GetString());
        Assert.Equal(name == "PENDING", status.Headers.RetryAfter is not null);
        Assert.Equal("no-store", status.Headers.CacheControl?.ToString());
        Assert.Equal(name == "FAILED" ? ErrorReasons.CommandExpired : code == HttpStatusCode.OK ? null : name,
            answer.RootElement.TryGetProperty("reason", out var reason) ? reason.GetString() : null);
    }

    [Theory]
    [InlineData("PUT")]
    [InlineData("DELETE")]
    public async Task The_status_can_only_be_read(string method)
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var request = new HttpRequestMessage(
            new HttpMethod(method),
            $"/v1/payments/{Samples.TransactionId}/status?link={StatusLink.Of(Samples.Payment(), 0)}");

        using var refused = await http.SendAsync(request);

        Assert.Equal(HttpStatusCode.MethodNotAllowed, refused.StatusCode);
        Assert.Empty(_queued.Commands);
    }

    [Fact]
    public async Task A_payment_that_the_transport_rejects_is_refused_with_the_reason()
    {
        _queued.Partition = null;
        _queued.Answer = _ =>
            Task.FromResult(Replies.Error(0, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable, "no broker"));
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);

        using var refused = await PayAsync(proxy, "respond-async");
        using var problem = JsonDocument.Parse(await refused.Content.ReadAsStringAsync());

        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        Assert.Equal(ErrorReasons.BrokerUnavailable, problem.RootElement.GetProperty("reason").GetString());
    }

    [Fact]
    public async Task A_payment_that_is_answered_before_it_is_confirmed_is_taken_and_its_status_has_the_answer()
    {
        _queued.Partition = null;
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };

        using var taken = await PayAsync(proxy, "respond-async");
        using var status = await http.GetAsync(taken.Headers.Location);

        Assert.Equal(HttpStatusCode.Accepted, taken.StatusCode);
        Assert.Contains("\"ACCEPTED\"", await status.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task If_the_transport_does_not_queue_commands_the_preference_is_ignored()
    {
        var direct = new FakeBackend();
        await using var proxy = await ProxyHost.StartAsync(direct, withRest: true);

        using var response = await PayAsync(proxy, "respond-async");

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.False(response.Headers.Contains("Preference-Applied"));
    }

    [Fact]
    public async Task An_invalid_field_is_refused_also_with_the_preference_respond_async()
    {
        await using var proxy = await ProxyHost.StartAsync(_queued, withRest: true);

        using var refused = await PayAsync(
            proxy, "respond-async", Body.Replace("visa", "diners", StringComparison.Ordinal));

        Assert.Equal(HttpStatusCode.BadRequest, refused.StatusCode);
        Assert.Empty(_queued.Commands);
    }

    private static Reply Error(StatusCode status, string reason) => Replies.Error(0, status, reason, "a message");

    private static async Task<HttpResponseMessage> PayAsync(
        ProxyHost proxy, string prefer, string body = Body, string? id = null)
    {
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var request = new HttpRequestMessage(HttpMethod.Put, "/v1/payments/" + (id ?? Guid.NewGuid().ToString()))
        {
            Content = new StringContent(body, new MediaTypeHeaderValue("application/json")),
        };
        request.Headers.TryAddWithoutValidation("Prefer", prefer);
        return await http.SendAsync(request);
    }

    private static async Task<(HttpStatusCode Status, string? Reason, string? Field)> ProblemAsync(
        HttpResponseMessage response)
    {
        using var problem = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        return (response.StatusCode, problem.RootElement.GetProperty("reason").GetString(),
            problem.RootElement.TryGetProperty("field", out var field) ? field.GetString() : null);
    }
}
