using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;

namespace Billing.UnitTests.Proxy.Rest;

/// <summary>The REST interface of holds with a fake backend.</summary>
public sealed class HoldRoutesTests
{
    private const string Body =
        """{"account_id":"acct","payment_type":"visa","amount":{"currency_code":"USD","units":1}}""";

    private readonly FakeBackend _backend = new();

    [Theory]
    [InlineData(
        "authorisations", "\"hold_duration\":60", "hold_duration",
        "hold_duration must be a duration like 3600s, in a string")]
    [InlineData(
        "authorisations", "\"hold_duration\":\"60\"", "hold_duration",
        "hold_duration must be a duration like 3600s; it is '60'")]
    [InlineData(
        "authorisations", "\"hold_duration\":\"1 min\"", "hold_duration",
        "hold_duration must be a duration like 3600s; it is '1 min'")]
    [InlineData(
        "authorisations", "\"hold_duration\":\"2678401s\"", "hold_duration",
        "hold_duration must be whole seconds, 1 to 2678400; it has 2678401 seconds and 0 nanos")]
    [InlineData(
        "authorisations", "\"hold_duration\":\"1.5s\"", "hold_duration",
        "hold_duration must be whole seconds, 1 to 2678400; it has 1 seconds and 500000000 nanos")]
    [InlineData(
        "authorisations", "\"hold_duration\":\"-1s\"", "hold_duration",
        "hold_duration must be whole seconds, 1 to 2678400; it has -1 seconds and 0 nanos")]
    [InlineData("captures", "\"is_final\":1", "is_final", "is_final must be true or false")]
    [InlineData("captures", "\"payment_id\":\"\"", "payment_id", "payment_id is missing; it must be a UUID")]
    [InlineData("voids", "\"payment_id\":5", "payment_id", "payment_id must be a string")]
    [InlineData("voids", "\"is_final\":true", "is_final", "is_final is not a field of this request")]
    public async Task An_invalid_field_of_a_request_for_a_hold_is_named(
        string route, string field, string name, string message)
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var body = route == "voids" ? """{"account_id":"acct","payment_type":"visa",""" : Body[..^1] + ",";

        using var response = await PutAsync(proxy, $"{route}/{Guid.NewGuid()}", body + field + "}");
        using var problem = JsonDocument.Parse(await response.Content.ReadAsStringAsync());

        Assert.Equal(
            (HttpStatusCode.BadRequest, name),
            (response.StatusCode, problem.RootElement.GetProperty("field").GetString()));
        Assert.StartsWith(message, problem.RootElement.GetProperty("detail").GetString(), StringComparison.Ordinal);
        Assert.Empty(_backend.Commands);
    }

    [Fact]
    public async Task All_that_is_asked_of_a_hold_is_sent_on_and_all_that_is_answered_is_in_the_answer()
    {
        var (hold, capture, release) =
            (Guid.NewGuid().ToString(), Guid.NewGuid().ToString(), Guid.NewGuid().ToString());
        _backend.Answer = command => Task.FromResult(command.RequestCase switch
        {
            Command.RequestOneofCase.Authorise => new Reply
            {
                Authorise = new AuthorisePaymentResponse
                {
                    TransactionId = hold,
                    Outcome = PaymentOutcome.Accepted,
                    Balance = Samples.Dollars(1),
                    OnHold = Samples.Dollars(2),
                    ExpireTime = new Timestamp { Seconds = 60 },
                    DecideTime = new Timestamp { Seconds = 1 },
                    Version = 3,
                    Replayed = true,
                },
            },
            Command.RequestOneofCase.Capture => new Reply
            {
                Capture = new CapturePaymentResponse
                {
                    TransactionId = capture,
                    PaymentId = hold,
                    Amount = Samples.Dollars(1),
                    Charged = Samples.Dollars(2),
                    Held = Samples.Dollars(3),
                    Balance = Samples.Dollars(4),
                    OnHold = Samples.Dollars(5),
                    DecideTime = new Timestamp { Seconds = 2 },
                    Version = 5,
                },
            },
            _ => new Reply
            {
                Void = new VoidPaymentResponse
                {
                    TransactionId = release,
                    PaymentId = hold,
                    Released = Samples.Dollars(1),
                    Balance = Samples.Dollars(2),
                    OnHold = Samples.Dollars(3),
                    DecideTime = new Timestamp { Seconds = 3 },
                    Version = 3,
                },
            },
        });
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var account = "\"account_id\":\"acct\",\"payment_type\":\"visa\"";

        var authorised = await AnswerAsync(proxy, $"authorisations/{hold}", Body[..^1] + ",\"hold_duration\":\"60s\"}");
        var captured = await AnswerAsync(
            proxy, $"captures/{capture}", Body[..^1] + $",\"payment_id\":\"{hold}\",\"is_final\":true}}");
        var voided = await AnswerAsync(proxy, $"voids/{release}", $"{{{account},\"payment_id\":\"{hold}\"}}");

        var commands = _backend.Commands.ToList();
        var visa = PaymentType.Visa;
        Assert.Equal(
            new AuthorisePaymentRequest
            {
                TransactionId = hold,
                AccountId = "acct",
                PaymentType = visa,
                Amount = Samples.Dollars(1),
                HoldDuration = new() { Seconds = 60 },
            },
            commands[0].Authorise);
        Assert.Equal(
            new CapturePaymentRequest
            {
                TransactionId = capture,
                AccountId = "acct",
                PaymentType = visa,
                PaymentId = hold,
                Amount = Samples.Dollars(1),
                IsFinal = true,
            },
            commands[1].Capture);
        Assert.Equal(
            new VoidPaymentRequest
            {
                TransactionId = release,
                AccountId = "acct",
                PaymentType = visa,
                PaymentId = hold,
            },
            commands[2].Void);
        Assert.Equal(
            $$$"""{"transaction_id":"{{{hold}}}","outcome":"ACCEPTED","balance":{{{DollarsJson(1)}}},"on_hold":"""
                + $$$"""{{{DollarsJson(2)}}},"expire_time":"1970-01-01T00:01:00Z","decide_time":"1970-01-01T00:00:"""
                + """01Z","version":3,"replayed":true}""",
            authorised);
        Assert.Equal(
            $$$"""{"transaction_id":"{{{capture}}}","payment_id":"{{{hold}}}","amount":"""
                + $$$"""{{{DollarsJson(1)}}},"charged":{{{DollarsJson(2)}}},"held":{{{DollarsJson(3)}}},"balance":"""
                + $$$"""{{{DollarsJson(4)}}},"on_hold":{{{DollarsJson(5)}}},"decide_time":"1970-01-01T00:00:"""
                + """02Z","version":5,"replayed":false}""",
            captured);
        Assert.Equal(
            $$$"""{"transaction_id":"{{{release}}}","payment_id":"{{{hold}}}","released":"""
                + $$$"""{{{DollarsJson(1)}}},"balance":{{{DollarsJson(2)}}},"on_hold":"""
                + $$$"""{{{DollarsJson(3)}}},"decide_time":"1970-01-01T00:00:03Z","version":3,"replayed":false}""",
            voided);
    }

    private static string DollarsJson(int units) =>
        string.Create(CultureInfo.InvariantCulture, $$"""{"currency_code":"USD","units":"{{units}}","nanos":0}""");

    private static async Task<string> AnswerAsync(ProxyHost proxy, string path, string body)
    {
        using var response = await PutAsync(proxy, path, body);
        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        return await response.Content.ReadAsStringAsync();
    }

    private static async Task<HttpResponseMessage> PutAsync(ProxyHost proxy, string path, string body)
    {
        using var http = new HttpClient { BaseAddress = proxy.Rest };
        using var content = new StringContent(body, new MediaTypeHeaderValue("application/json"));
        return await http.PutAsync(new Uri("/v1/" + path, UriKind.Relative), content);
    }
}
