using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json;
using Billing.Chaos;
using Billing.Chaos.Rest;
using Billing.V1;

namespace Billing.UnitTests.Chaos;

public sealed class QueuedPaymentTests
{
    private static readonly MakePaymentRequest Payment = new()
    {
        TransactionId = "6a0d2a5e-1f0b-4a5c-8b1e-000000000013",
        AccountId = "acct-1",
        PaymentType = PaymentType.Visa,
        Amount = new V1.Money { CurrencyCode = "USD", Units = 7, Nanos = 250_000_000 },
        Notes = new PaymentNotes { Reference = "order 7", Metadata = { ["shop"] = "Z\u00FCrich <\u2713>" } },
    };

    private const string Id = "\"transaction_id\":\"6a0d2a5e-1f0b-4a5c-8b1e-000000000013\"";
    private const string Reused = "409 {\"reason\":\"TRANSACTION_ID_REUSED\"}";
    private const string NotFound = "404 {\"reason\":\"PAYMENT_NOT_FOUND\"}";
    private const string Missing = "404 {\"reason\":\"TRANSACTION_NOT_FOUND\"}";
    private const string Queued = "202 {" + Id + ",\"status\":\"PENDING\"}";
    private const string Pending = "200 {" + Id + ",\"status\":\"PENDING\"}";
    private const string Failed = "200 {" + Id + ",\"status\":\"FAILED\",\"reason\":\"COMMAND_EXPIRED\"}";
    private const string Money = "{\"currency_code\":\"USD\",\"units\":\"7\",\"nanos\":250000000}";
    private const string Outcome = "\"balance\":" + Money + ",\"on_hold\":" + Money
        + ",\"decide_time\":\"2026-01-31T12:00:00.000001Z\",\"version\":3";
    private const string Accepted = "200 {" + Id + ",\"status\":\"ACCEPTED\"," + Outcome + "}";

    private const string Found = "200 {\"entry\":{" + Id + ",\"type\":\"PAYMENT_ACCEPTED\",\"amount\":" + Money
        + ",\"notes\":{\"reference\":\"order 7\",\"metadata\":{\"shop\":\"Z\u00FCrich <\u2713>\"}}," + Outcome + "}}";

    private readonly TrafficRecord _record = new();

    [Fact]
    public async Task A_payment_is_followed_until_its_status_is_final()
    {
        var answer = await RunAsync(["503 {}", Queued, Pending, "504 {}", Pending, Accepted, Found]);

        Assert.Equal((PaymentOutcome.Accepted, 3), (answer!.Outcome, answer.Version));
        Assert.Equal(2, _record.Repeated);
    }

    [Fact]
    public async Task A_payment_fails_after_its_deadline_and_nothing_is_found_then() =>
        Assert.Null(await RunAsync([Queued, Failed, Reused, Missing]));

    [Fact]
    public async Task A_payment_that_was_sent_again_may_find_its_id_closed() =>
        Assert.Null(await RunAsync(["504 {}", Reused, Reused, Missing]));

    [Fact]
    public async Task A_payment_that_was_lost_is_sent_again()
    {
        var answer = await RunAsync([Queued, NotFound, Queued, Accepted, Found], mayBeLost: true);

        Assert.Equal(PaymentOutcome.Accepted, answer!.Outcome);
    }

    [Theory]
    [InlineData("sent with 60 s", 60, Queued, Failed)]
    [InlineData("sent with 60 s", 60, Reused)]
    [InlineData("the answer to its status is 404", 1, Queued, NotFound)]
    [InlineData("the answer to its status is 409", 1, Queued, Reused)]
    [InlineData("not queued: 200", 1, Accepted)]
    [InlineData("the answer to the same payment is 200", 1, Queued, Failed, Accepted)]
    [InlineData("a look-up finds 200", 1, Queued, Failed, Reused, Found)]
    [InlineData("a look-up finds 404", 1, Queued, Accepted, Missing)]
    public async Task A_wrong_answer_is_found(string wrong, int timeoutSeconds, params string[] answers)
    {
        var found = await Assert.ThrowsAsync<InvalidDataException>(() => RunAsync(answers, timeoutSeconds));

        Assert.Contains(wrong, found.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("\"version\":3", "\"version\":4")]
    [InlineData("\"units\":\"7\"", "\"units\":\"8\"")]
    [InlineData("ACCEPTED", "DECLINED")]
    [InlineData("order 7", "order 8")]
    public Task A_look_up_that_differs_is_found(string from, string to) => Assert.ThrowsAsync<InvalidDataException>(
        () => RunAsync([Queued, Accepted, Found.Replace(from, to, StringComparison.Ordinal)]));

    [Fact]
    public void The_same_payment_is_written_in_several_ways()
    {
        var written = Enumerable.Range(0, 100)
            .Select(seed => PaymentJson.Write(Payment, new Random(seed))).Distinct().ToList();

        Assert.InRange(written.Count, 10, 100);
        Assert.Single(written.Select(json => JsonElement.Parse(json)).Select(body => (
            body.GetProperty("account_id").GetString(),
            body.GetProperty("payment_type").GetString()!.ToUpperInvariant(),
            body.GetProperty("amount").GetProperty("units").ToString(),
            body.GetProperty("amount").GetProperty("nanos").GetInt32(),
            body.GetProperty("notes").GetProperty("metadata").GetProperty("shop").GetString())).Distinct());
    }

    private async Task<MakePaymentResponse?> RunAsync(string[] answers, int timeoutSeconds = 1, bool mayBeLost = false)
    {
        using var script = new Script(answers);
        using var proxies = new RestProxies(["http://one", "http://two"], TimeSpan.FromSeconds(10), script);
        var timeout = TimeSpan.FromSeconds(timeoutSeconds);
        var payment = new QueuedPayment(
            Payment, timeout, proxies, mayBeLost, _record, new Random(1), TimeProvider.System);
        var outcome = await payment.EndAsync(TestContext.Current.CancellationToken);
        await payment.CheckAsync(outcome, TestContext.Current.CancellationToken);
        Assert.Equal(answers.Length, script.Sent);
        return outcome;
    }

    // Answers that it gives in turn: each a status and a body.
    private sealed class Script(string[] answers) : HttpMessageHandler
    {
        public int Sent { get; private set; }

        protected override Task<HttpResponseMessage> SendAsync(
            HttpRequestMessage request, CancellationToken cancellationToken)
        {
            var answer = answers[Sent++];
            var status = int.Parse(answer.AsSpan(0, 3), CultureInfo.InvariantCulture);
            var response = new HttpResponseMessage((HttpStatusCode)status)
            {
                Content = new StringContent(answer[4..], Encoding.UTF8, "application/json"),
            };
            if (response.StatusCode == HttpStatusCode.Accepted)
            {
                response.Headers.Location = new Uri(
                    $"{request.RequestUri!.AbsolutePath}/status?link=abc", UriKind.Relative);
            }
            return Task.FromResult(response);
        }
    }
}
