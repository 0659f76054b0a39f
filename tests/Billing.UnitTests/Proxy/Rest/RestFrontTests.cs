using System.Globalization;
using System.IO.Compression;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Fuzzing;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy.Rest;

/// <summary>The REST interface with a fake backend.</summary>
public sealed class RestFrontTests
{
    private const string Body =
        """{"account_id":"acct","payment_type":"visa","amount":{"currency_code":"USD","units":1}}""";

    private readonly FakeBackend _backend = new();

    [Theory]
    [InlineData(StatusCode.InvalidArgument, 400)]
    [InlineData(StatusCode.FailedPrecondition, 400)]
    [InlineData(StatusCode.OutOfRange, 400)]
    [InlineData(StatusCode.Unauthenticated, 401)]
    [InlineData(StatusCode.PermissionDenied, 403)]
    [InlineData(StatusCode.NotFound, 404)]
    [InlineData(StatusCode.AlreadyExists, 409)]
    [InlineData(StatusCode.ResourceExhausted, 429)]
    [InlineData(StatusCode.Internal, 500)]
    [InlineData(StatusCode.Unavailable, 503)]
    [InlineData(StatusCode.DeadlineExceeded, 504)]
    public async Task A_backends_error_has_the_matching_HTTP_status_and_the_same_reason_and_field(
        StatusCode status, int expected)
    {
        _backend.Answer = command =>
            Task.FromResult(Replies.Error(0, status, "SOME_REASON", "the message", "some.field"));
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);

        using var response = await PayAsync(proxy);
        var problem = await ProblemAsync(response);

        Assert.Equal(expected, (int)response.StatusCode);
        Assert.Equal("application/problem+json", response.Content.Headers.ContentType?.MediaType);
        Assert.Equal(expected, problem.GetProperty("status").GetInt32());
        Assert.Equal("SOME_REASON", problem.GetProperty("reason").GetString());
        Assert.Equal("some.field", problem.GetProperty("field").GetString());
        Assert.Equal("the message", problem.GetProperty("detail").GetString());
    }

    [Fact]
    public async Task An_unexpected_exception_is_answered_without_its_text_and_with_the_same_reason_as_over_gRPC()
    {
        _backend.Answer = _ => throw new InvalidOperationException("planted");
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);

        using var response = await PayAsync(proxy);
        var problem = await ProblemAsync(response);
        var overGrpc = await Assert.ThrowsAsync<RpcException>(
            () => proxy.Client.MakePaymentAsync(Samples.Payment()).ResponseAsync);

        Assert.Equal(
            (HttpStatusCode.InternalServerError, StatusCode.Internal), (response.StatusCode, overGrpc.StatusCode));
        Assert.Equal("application/problem+json", response.Content.Headers.ContentType?.MediaType);
        Assert.Equal(ErrorReasons.Unforeseen, problem.GetProperty("reason").GetString());
        Assert.Equal(ErrorReasons.Unforeseen, overGrpc.Reason());
        Assert.Equal(overGrpc.Status.Detail, problem.GetProperty("detail").GetString());
        Assert.DoesNotContain("planted", problem.GetRawText(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_full_proxy_answers_with_a_retry_delay()
    {
        var answer = new TaskCompletionSource<Reply>();
        var taken = new TaskCompletionSource();
        _backend.Answer = _ =>
        {
            taken.TrySetResult();
            return answer.Task;
        };
        // The delay grows from one second to the next: here, time stands still.
        await using var proxy = await ProxyHost.StartAsync(
            _backend, options => (options.InFlightMax, options.StreamWindow) = (1, 1),
            withRest: true, time: new ManualTime());
        var first = PayAsync(proxy);
        await taken.Task;

        using var refused = await PayAsync(proxy);
        var problem = await ProblemAsync(refused);
        answer.SetResult(FakeBackend.Accepted(_backend.Commands.Single()));
        using var served = await first;

        Assert.Equal(HttpStatusCode.TooManyRequests, refused.StatusCode);
        Assert.Equal(TimeSpan.FromSeconds(1), refused.Headers.RetryAfter?.Delta);
        Assert.InRange(problem.GetProperty("retry_after_ms").GetInt32(), 100, 300);
        Assert.Equal(ErrorReasons.TooManyInFlight, problem.GetProperty("reason").GetString());
        Assert.Equal(HttpStatusCode.OK, served.StatusCode);
    }

    [Theory]
    [InlineData(null, 30_000)]
    [InlineData("1500", 1_500)]
    [InlineData("9999999", 300_000)]
    public async Task The_header_sets_the_timeout_of_a_command(string? header, int milliseconds)
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true, time: new ManualTime());

        using var response = await PayAsync(proxy, header);

        var command = Assert.Single(_backend.Commands);
        Assert.Equal(milliseconds * 1_000L, command.DeadlineUnixUs - command.ReceivedUnixUs);
    }

    [Theory]
    [InlineData("soon")]
    [InlineData("0")]
    [InlineData("-5")]
    [InlineData("1.5")]
    [InlineData("99999999999")]
    public async Task An_invalid_timeout_is_refused_with_the_name_of_the_header(string header)
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);

        using var response = await PayAsync(proxy, header);

        Assert.Equal(HttpStatusCode.BadRequest, response.StatusCode);
        Assert.Equal("billing-timeout-ms", (await ProblemAsync(response)).GetProperty("field").GetString());
        Assert.Empty(_backend.Commands);
    }

    [Fact]
    public async Task Pipelined_requests_are_answered_in_order()
    {
        const int count = 200;
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var ids = Enumerable.Range(0, count).Select(_ => Guid.NewGuid().ToString()).ToList();
        using var socket = new TcpClient();
        await socket.ConnectAsync(proxy.Rest.Host, proxy.Rest.Port);
        await using var stream = socket.GetStream();
        var requests = new StringBuilder();
        foreach (var id in ids)
        {
            requests.Append(CultureInfo.InvariantCulture,
                $"PUT /v1/payments/{id} HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                    + $"application/json\r\nContent-Length: {Body.Length}\r\n\r\n{Body}");
        }

        await stream.WriteAsync(Encoding.ASCII.GetBytes(requests.ToString()));
        using var reader = new StreamReader(stream, Encoding.ASCII);
        var answered = new List<string>();
        while (answered.Count < count)
        {
            answered.Add(await ReadAnswerAsync(reader));
        }

        Assert.Equal(ids, answered);
    }

    [Fact]
    public async Task The_page_to_browse_the_API_cannot_be_framed_and_loads_nothing_from_elsewhere()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        using var http = new HttpClient();

        using var page = await http.GetAsync(new Uri(proxy.Rest, "/docs/index.html"));

        var policy = Assert.Single(page.Headers.GetValues("Content-Security-Policy"));
        Assert.Contains("default-src 'self'", policy, StringComparison.Ordinal);
        Assert.Contains("frame-ancestors 'none'", policy, StringComparison.Ordinal);
        Assert.Equal("nosniff", Assert.Single(page.Headers.GetValues("X-Content-Type-Options")));
    }

    [Fact]
    public async Task HEAD_is_answered_as_GET_without_a_body()
    {
        _backend.Answer = command => Task.FromResult(CompleteReplies.To(command));
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        const string Balance = "/v1/accounts/visa/acct/balance";

        using var read = await http.GetAsync(Balance);
        using var asked = await http.SendAsync(new HttpRequestMessage(HttpMethod.Head, Balance));

        Assert.Equal(
            (read.StatusCode, read.Content.Headers.ContentLength),
            (asked.StatusCode, asked.Content.Headers.ContentLength));
        Assert.Equal(HttpStatusCode.OK, asked.StatusCode);
        Assert.Empty(await asked.Content.ReadAsByteArrayAsync());
        Assert.Equal(2, _backend.Commands.Count);
    }

    [Theory]
    [InlineData("/v1/accounts/visa/acct/balance", "GET, HEAD, OPTIONS")]
    [InlineData("/v1/payments/7", "PUT, OPTIONS")]
    public async Task OPTIONS_lists_the_methods_of_a_path_and_another_method_is_told_them(string path, string methods)
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };

        using var listed = await http.SendAsync(new HttpRequestMessage(HttpMethod.Options, path));
        using var refused = await http.DeleteAsync(path);

        Assert.Equal(
            (HttpStatusCode.NoContent, methods), (listed.StatusCode, string.Join(", ", listed.Content.Headers.Allow)));
        Assert.Equal(
            (HttpStatusCode.MethodNotAllowed, methods),
            (refused.StatusCode, string.Join(", ", refused.Content.Headers.Allow)));
        Assert.Empty(_backend.Commands);
    }

    [Fact]
    public async Task A_body_may_begin_with_a_byte_order_mark()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);

        using var paid = await SendAsync(proxy, [.. Encoding.UTF8.Preamble, .. Encoding.UTF8.GetBytes(Body)]);

        Assert.Equal(HttpStatusCode.OK, paid.StatusCode);
    }

    [Fact]
    public async Task A_body_in_Latin_1_or_UTF_16_is_told_that_JSON_is_UTF_8()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var zurich = Body[..^1] + ",\"notes\":{\"reference\":\"Z\u00fcrich\"}}";

        foreach (var encoding in (Encoding[])
        [
            Encoding.Latin1, new UnicodeEncoding(bigEndian: false, byteOrderMark: true),
        ])
        {
            using var refused = await SendAsync(proxy, [.. encoding.Preamble, .. encoding.GetBytes(zurich)]);
            var problem = await ProblemAsync(refused);

            Assert.Equal(ErrorReasons.MalformedBody, problem.GetProperty("reason").GetString());
            Assert.Equal("The body is not UTF-8, which JSON has to be.", problem.GetProperty("detail").GetString());
        }
    }

    [Theory]
    [InlineData("{\"account_id\":\"a\",}")]
    [InlineData("{\"notes\":{\"reference\":\"a\",},\"account_id\":\"a\"}")]
    public async Task A_comma_too_many_is_named(string body)
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);

        using var refused = await SendAsync(proxy, Encoding.UTF8.GetBytes(body));

        Assert.Equal(
            "The body is not JSON: a comma stands before the end of an object or a list.",
            (await ProblemAsync(refused)).GetProperty("detail").GetString());
    }

    [Fact]
    public async Task No_answer_is_kept_by_a_cache_or_taken_for_another_type()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };

        foreach (var path in (string[])
        [
            "/v1/accounts/visa/acct/balance", "/v1/accounts/visa/acct/nothing", "/health/live", "/openapi/v1.json",
        ])
        {
            using var answer = await http.GetAsync(path);

            Assert.Equal("no-store", answer.Headers.CacheControl?.ToString());
            Assert.Equal("nosniff", Assert.Single(answer.Headers.GetValues("X-Content-Type-Options")));
        }
    }

    [Fact]
    public async Task A_body_that_is_compressed_is_refused_whatever_its_size()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        using var http = new HttpClient { BaseAddress = proxy.Rest };

        foreach (var text in (string[])[Body, new string(' ', 10_000_000) + Body])
        {
            using var packed = new MemoryStream();
            await using (var gzip = new GZipStream(packed, CompressionLevel.Optimal, leaveOpen: true))
            {
                await gzip.WriteAsync(Encoding.UTF8.GetBytes(text));
            }
            using var content = new ByteArrayContent(packed.ToArray())
            {
                Headers = { ContentType = new("application/json"), ContentEncoding = { "gzip" } },
            };
            using var refused = await http.PutAsync("/v1/payments/" + Guid.NewGuid(), content);

            Assert.Equal(HttpStatusCode.UnsupportedMediaType, refused.StatusCode);
            Assert.Equal("identity", Assert.Single(refused.Headers.GetValues("Accept-Encoding")));
            Assert.Equal(
                "The body must not be compressed; its Content-Encoding must be absent.",
                (await ProblemAsync(refused)).GetProperty("detail").GetString());
        }
        Assert.Empty(_backend.Commands);
    }

    [Fact]
    public async Task A_backends_answer_without_a_part_that_callers_read_is_a_failure_of_it()
    {
        _backend.Answer = command => Task.FromResult(
            new Reply { Payment = new MakePaymentResponse { TransactionId = command.TransactionId, Version = 1 } });
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);

        using var response = await PayAsync(proxy);

        Assert.Equal(HttpStatusCode.InternalServerError, response.StatusCode);
        Assert.Equal(ErrorReasons.ProcessingFailed, (await ProblemAsync(response)).GetProperty("reason").GetString());
    }

    [Theory]
    [InlineData("ffffffffffffffff\r\n")]
    [InlineData("2\r\n{}\r\n0\r\nna\u0080me: ab\r\n\r\n")]
    [InlineData("2\r\n{}\r\n0\r\nname: a\0b\r\n\r\n")]
    [InlineData("2\r\n{}\r\n0\r\nname: a\u0080b\r\n\r\n")]
    public async Task A_body_in_chunks_that_HTTP_does_not_allow_is_refused(string chunks)
    {
        using var log = new FaultLog();
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true, logs: log);
        using var socket = new TcpClient();
        await socket.ConnectAsync(proxy.Rest.Host, proxy.Rest.Port);
        await using var stream = socket.GetStream();

        await stream.WriteAsync(Encoding.Latin1.GetBytes(
            $"PUT /v1/payments/{Samples.TransactionId} HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
            + $"application/json\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"));
        using var reader = new StreamReader(stream, Encoding.ASCII);

        Assert.Equal("HTTP/1.1 400 Bad Request", await reader.ReadLineAsync());
        log.AssertNone();
    }

    private static async Task<string> ReadAnswerAsync(StreamReader reader)
    {
        Assert.Equal("HTTP/1.1 200 OK", await reader.ReadLineAsync());
        var length = 0;
        while (await reader.ReadLineAsync() is { Length: > 0 } header)
        {
            if (header.StartsWith("Content-Length: ", StringComparison.OrdinalIgnoreCase))
            {
                length = int.Parse(header.AsSpan(16), CultureInfo.InvariantCulture);
            }
        }
        var body = new char[length];
        Assert.Equal(length, await reader.ReadBlockAsync(body));
        using var json = JsonDocument.Parse(new string(body));
        return json.RootElement.GetProperty("transaction_id").GetString()!;
    }

    private static async Task<HttpResponseMessage> SendAsync(ProxyHost proxy, byte[] body)
    {
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var content =
            new ByteArrayContent(body) { Headers = { ContentType = new MediaTypeHeaderValue("application/json") } };
        return await http.PutAsync("/v1/payments/" + Guid.NewGuid(), content);
    }

    private static async Task<HttpResponseMessage> PayAsync(ProxyHost proxy, string? timeout = null)
    {
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var request = new HttpRequestMessage(HttpMethod.Put, "/v1/payments/" + Guid.NewGuid())
        {
            Content = new StringContent(Body, new MediaTypeHeaderValue("application/json")),
        };
        if (timeout is not null)
        {
            request.Headers.Add("billing-timeout-ms", timeout);
        }
        return await http.SendAsync(request);
    }

    private static async Task<JsonElement> ProblemAsync(HttpResponseMessage response)
    {
        using var json = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        return json.RootElement.Clone();
    }
}
