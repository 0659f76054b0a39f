using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Billing.Proxy.Calls;
using Billing.UnitTests.Testing;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Hostile requests over REST: made from the OpenAPI document, and as bytes.</summary>
public sealed partial class RestFuzz
{
    private const string Payment =
        """{"account_id":"acct-42","payment_type":"visa","amount":{"currency_code":"USD","units":10,"nanos":5}}""";

    private static readonly byte[] Farewell =
        "GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"u8.ToArray();

    private static readonly string[] Words =
    [
        "\r\n", "\r\n\r\n", "\n", " ", "\0", "%00", "%2f", "%c0%af", "../", "..%2f", "//", "?", "#", "&", "=", ";", ":",
        "\u00ff\u00fe", "HTTP/1.0", "HTTP/2.0", "Host: page.example\r\n", "Host:\r\n",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: x\r\n", "Content-Length: 0\r\n",
        "Content-Length: 99999999999999999999\r\n", "Content-Length: -1\r\n", "Expect: 100-continue\r\n",
        "Upgrade: h2c\r\n", "Connection: upgrade\r\n", "Content-Type: text/plain\r\n",
        "Content-Type: application/grpc\r\n", "Content-Encoding: gzip\r\n",
        "Prefer: respond-async\r\n", "billing-timeout-ms: 1\r\n",
        "Authorization: Bearer x\r\n", "0\r\n\r\n", "ffffffffffffffff\r\n", "GET ", "PUT ", "CONNECT ", "OPTIONS * ",
        "TRACE ", "/openapi/v1.json", "/docs/index.html", "/live/events", "/metrics", "/health/ready",
        "{", "}", "[", "]", "\"", "\\u0000", "\\ud800", "null", "1e999", "-0", "\"units\":", "\"nanos\":",
        "\"amount\":", "\"account_id\":", "\u00ed\u00a0\u0080",
    ];

    [Fact]
    public async Task A_request_gets_a_status_of_the_OpenAPI_document_and_one_that_is_refused_reaches_no_backend()
    {
        await using var proxy = await FuzzedProxy.StartAsync();
        using var http = new HttpClient();
        var document =
            JsonDocument.Parse(await http.GetStringAsync(new Uri(proxy.Host.Rest, "/openapi/v1.json"))).RootElement;
        var requests = new OpenApiRequests(document);
        await new Fuzz("openapi", [[0], [1]], ["a request"], tries: 1_500).RunAsync(async input =>
        {
            var request = requests.Of(input.Aggregate(17, (sum, b) => unchecked((sum * 31) + b)));
            var before = proxy.Commands;
            using var message = request.ToMessage(proxy.Host.Rest);
            using var answer = await http.SendAsync(message);
            var body = await answer.Content.ReadAsStringAsync();
            var status = (int)answer.StatusCode;
            Assert.True(request.Allows(status) && status != 500, $"{request}: {status} {body}");
            Assert.Equal(answer.IsSuccessStatusCode ? 1 : 0, proxy.Commands - before);
            proxy.AssertNoFaults();
            return $"{request.Method} {status}";
        });
        await proxy.ServesAsync();
        await proxy.EndAsync();
    }

    [Fact]
    public async Task Bytes_of_HTTP_1_end_at_most_their_own_connection()
    {
        await using var proxy = await FuzzedProxy.StartAsync();
        await new Fuzz("http1", [.. Requests().Select(Encoding.Latin1.GetBytes)], Words, tries: 1_500).RunAsync(
            async input =>
            {
                var answered = Encoding.Latin1.GetString(
                    await FuzzedProxy.ExchangeAsync(proxy.Host.Rest.Port, input, Farewell));
                Assert.True(
                    answered.Length == 0 || answered.StartsWith("HTTP/1.1 ", StringComparison.Ordinal), answered);
                Assert.DoesNotContain("HTTP/1.1 500", answered, StringComparison.Ordinal);
                proxy.AssertNoFaults();
                return string.Join(' ', Statuses().Matches(answered).Select(status => status.Value));
            });
        await proxy.ServesAsync();
        await proxy.EndAsync();
    }

    [GeneratedRegex("(?<=HTTP/1.1 )[0-9]{3}")]
    private static partial Regex Statuses();

    private static IEnumerable<string> Requests()
    {
        const string Host = "Host: localhost\r\n";
        var length = Payment.Length.ToString(CultureInfo.InvariantCulture);
        var put =
            $"PUT /v1/payments/01234567-89ab-cdef-0123-456789abcdef HTTP/1.1\r\n{Host}Content-Type: "
            + "application/json\r\n";
        yield return $"{put}Content-Length: {length}\r\n\r\n{Payment}";
        yield return $"{put}Prefer: respond-async\r\nTransfer-Encoding: "
            + $"chunked\r\n\r\n{Payment.Length:x}\r\n{Payment}\r\n0\r\n\r\n";
        yield return $"{put}Content-Length: {length}\r\nConnection: close\r\n\r\n{Payment}";
        yield return "GET /v1/accounts/VISA/acct-42/balance?min_version=0 "
            + $"HTTP/1.1\r\n{Host}billing-timeout-ms: 100\r\n\r\n";
        yield return "GET /v1/accounts/VISA/acct-42/statement?after_version=0&page_size=5&types=PAYMENT_ACCEPTED "
            + $"HTTP/1.1\r\n{Host}\r\nGET /openapi/v1.json HTTP/1.1\r\n{Host}\r\n";
        yield return $"GET /v1/payments/{Samples.TransactionId}/status?link={StatusLink.Of(Samples.Payment(), 3)} "
            + $"HTTP/1.1\r\n{Host}\r\n";
        yield return $"OPTIONS * HTTP/1.1\r\n{Host}\r\n";
        yield return $"GET http://localhost/docs/index.html HTTP/1.1\r\n{Host}Accept: text/html\r\n\r\n";
    }
}
