using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Billing.Contracts;
using Billing.LocalStack;
using Billing.Proxy.Calls;
using Billing.V1;
using Grpc.Core;

namespace Billing.IntegrationTests.Services;

/// <summary>Asynchronous payments over REST, whose status is available at every proxy.</summary>
[Collection(OverFailingKafka.Name)]
public sealed class QueuedPaymentsOverKafka : IDisposable
{
    // A deadline in milliseconds: Kafka must have the payment before it, and a paused backend gets it later.
    private const long ShortMs = 2000;

    private readonly KafkaStack _stack;
    private readonly HttpClient _http = new();

    public QueuedPaymentsOverKafka(KafkaStack stack)
    {
        Assert.SkipWhen(stack.Missing is not null, stack.Missing ?? "");
        _stack = stack;
    }

    public void Dispose() => _http.Dispose();

    [Fact]
    public async Task The_status_of_a_payment_is_available_at_another_proxy_if_the_first_is_killed_before_the_decision()
    {
        var payment = StackFixture.Payment(amount: 7.25m);
        var proxy = _stack.Stack.Of(ServiceRole.Proxy).First();
        string url;
        using (Pause())
        {
            url = await QueueAsync(payment, proxy: 0);
            Assert.Equal("PENDING", Text(await StatusAsync(url, proxy: 1, "200"), "status"));
            proxy.Process.Kill();
            await proxy.Process.WaitForExitAsync(TestContext.Current.CancellationToken);
            Assert.Equal("PENDING", Text(await StatusAsync(url, proxy: 1, "200"), "status"));
        }

        var elsewhere = await OutcomeAsync(url, proxy: 1);
        await _stack.Stack.AddAsync(ServiceRole.Proxy, proxy.Number, TestContext.Current.CancellationToken);
        var again = await OutcomeAsync(url, proxy: 0);

        Assert.Equal("ACCEPTED", Text(elsewhere, "status"));
        Assert.Equal(1, elsewhere.GetProperty("version").GetInt64());
        Assert.Equal("7", Text(elsewhere.GetProperty("balance"), "units"));
        Assert.Equal(elsewhere.GetRawText(), again.GetRawText());
        Assert.Equal(1, await _stack.CountEventsAsync(payment.AccountId));
    }

    [Fact]
    public async Task A_payment_not_recorded_before_its_deadline_is_reported_as_failed_by_every_proxy()
    {
        var payment = StackFixture.Payment();
        string url;
        using (Pause())
        {
            url = await QueueAsync(payment, proxy: 0, ShortMs);
            Assert.Equal("PENDING", Text(await StatusAsync(url, proxy: 1, "500"), "status"));
            await PassShortAsync();
        }

        var statuses = new[] { await OutcomeAsync(url, proxy: 0), await OutcomeAsync(url, proxy: 1) };

        Assert.All(statuses, status =>
        {
            Assert.Equal("FAILED", Text(status, "status"));
            Assert.Equal(ErrorReasons.CommandExpired, Text(status, "reason"));
        });
        Assert.Equal(0, await _stack.CountEventsAsync(payment.AccountId));
    }

    [Fact]
    public async Task A_payment_with_a_used_id_has_no_status_and_the_first_payment_has_its_own()
    {
        var payment = StackFixture.Payment(amount: 5);
        payment.Notes = new PaymentNotes { Reference = "order 7", Metadata = { ["shop"] = "Z\u00FCrich" } };
        var other = payment.Clone();
        other.Notes.Reference = "order 8";

        string first, second;
        // A refusal that comes before Kafka's acknowledgement is the answer itself, instead of 202.
        using (Pause())
        {
            first = await QueueAsync(payment, proxy: 0);
            second = await QueueAsync(other, proxy: 1);
        }

        Assert.Equal("ACCEPTED", Text(await OutcomeAsync(first, proxy: 1), "status"));
        Assert.Equal(
            ErrorReasons.TransactionIdReused,
            Text(await StatusAsync(second, proxy: 0, "30000", HttpStatusCode.Conflict), "reason"));
        Assert.Equal(1, await _stack.CountEventsAsync(payment.AccountId));
    }

    [Fact]
    public async Task The_same_payment_without_the_preference_gets_the_answer_that_the_status_has()
    {
        var payment = StackFixture.Payment(amount: 12.34m);
        var status = await OutcomeAsync(await QueueAsync(payment, proxy: 0), proxy: 1);

        var answer = await _stack.Proxy().MakePaymentAsync(payment);

        Assert.Equal("ACCEPTED", Text(status, "status"));
        Assert.Equal(answer.Version, status.GetProperty("version").GetInt64());
        Assert.Equal(("12", 340_000_000), (
            Text(status.GetProperty("balance"), "units"),
            status.GetProperty("balance").GetProperty("nanos").GetInt32()));
        Assert.Equal(1, await _stack.CountEventsAsync(payment.AccountId));
    }

    [Fact]
    public async Task A_declined_payment_has_its_reason_balance_and_version()
    {
        var status = await OutcomeAsync(await QueueAsync(StackFixture.Payment(amount: 10_001), proxy: 0), proxy: 1);

        Assert.Equal("DECLINED", Text(status, "status"));
        Assert.Equal("CREDIT_LIMIT_EXCEEDED", Text(status, "decline_reason"));
        Assert.NotEmpty(Text(status, "message")!);
        Assert.Equal("0", Text(status.GetProperty("balance"), "units"));
        Assert.Equal(1, status.GetProperty("version").GetInt64());
    }

    [Fact]
    public async Task A_payment_that_was_never_sent_is_not_found_and_may_be_sent_after_the_question()
    {
        var payment = StackFixture.Payment();
        var url = $"/v1/payments/{payment.TransactionId}/status?link={StatusLink.Of(payment, partition: 0)}";

        Assert.Equal(
            ErrorReasons.PaymentNotFound,
            Text(await StatusAsync(url, proxy: 0, "30000", HttpStatusCode.NotFound), "reason"));
        Assert.Equal(PaymentOutcome.Accepted, (await _stack.Proxy().MakePaymentAsync(payment)).Outcome);

        Assert.Equal("ACCEPTED", Text(await OutcomeAsync(url, proxy: 0), "status"));
    }

    [Fact]
    public async Task A_question_on_a_partition_that_the_topic_does_not_have_is_answered()
    {
        var payment = StackFixture.Payment();
        Assert.Equal(PaymentOutcome.Accepted, (await _stack.Proxy().MakePaymentAsync(payment)).Outcome);

        Assert.Equal("ACCEPTED", Text(await OutcomeAsync(
            $"/v1/payments/{payment.TransactionId}/status?link={StatusLink.Of(payment, partition: 12345)}",
            proxy: 1), "status"));
    }

    [Fact]
    public async Task A_payment_reported_as_failed_is_never_charged_even_if_it_is_sent_again()
    {
        var payment = StackFixture.Payment();
        string url;
        using (Pause())
        {
            url = await QueueAsync(payment, proxy: 0, ShortMs);
            await PassShortAsync();
        }
        Assert.Equal("FAILED", Text(await OutcomeAsync(url, proxy: 0), "status"));

        var refused = await Assert.ThrowsAsync<RpcException>(
            async () => await _stack.Proxy().MakePaymentAsync(payment));

        Assert.Equal(ErrorReasons.TransactionIdReused, refused.Reason());
        Assert.Equal(ErrorReasons.CommandExpired, Text(await OutcomeAsync(url, proxy: 1), "reason"));
        Assert.Equal(0, await _stack.CountEventsAsync(payment.AccountId));
    }

    private static Task PassShortAsync()
    {
        var deadline = TimeProvider.System.Microseconds() + (1000 * ShortMs);
        return Poll.UntilAsync(() => TimeProvider.System.Microseconds() > deadline);
    }

    /// <summary>Pauses the payment backends, for less than the session timeout of their consumer group.</summary>
    private PausedProcesses Pause() => new([.. _stack.Stack.Of(ServiceRole.PaymentBackend).Select(s => s.Process)]);

    private async Task<string> QueueAsync(MakePaymentRequest payment, int proxy, long timeoutMs = 60_000)
    {
        using var request = new HttpRequestMessage(HttpMethod.Put, Url(proxy, "/v1/payments/" + payment.TransactionId))
        {
            Content = new StringContent(BodyOf(payment), new MediaTypeHeaderValue("application/json")),
        };
        request.Headers.Add("Prefer", "respond-async");
        request.Headers.Add("billing-timeout-ms", timeoutMs.ToString(CultureInfo.InvariantCulture));
        using var response = await _http.SendAsync(request);
        var queued = await JsonAsync(response);
        Assert.Equal(HttpStatusCode.Accepted, response.StatusCode);
        Assert.Equal("respond-async", Assert.Single(response.Headers.GetValues("Preference-Applied")));
        Assert.NotNull(response.Headers.RetryAfter);
        Assert.Equal("PENDING", Text(queued, "status"));
        Assert.Equal(response.Headers.Location!.OriginalString, Text(queued, "status_url"));
        return response.Headers.Location!.OriginalString;
    }

    private static string BodyOf(MakePaymentRequest payment) => JsonSerializer.Serialize(new
    {
        account_id = payment.AccountId,
        payment_type = "visa",
        amount = new
        {
            currency_code = payment.Amount.CurrencyCode,
            units = payment.Amount.Units,
            nanos = payment.Amount.Nanos,
        },
        notes = payment.Notes is { } notes ? new { reference = notes.Reference, metadata = notes.Metadata } : null,
    });

    /// <summary>Requests the status until it is no longer pending.</summary>
    private async Task<JsonElement> OutcomeAsync(string url, int proxy)
    {
        using var giveUp = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        giveUp.CancelAfter(Patience);
        while (true)
        {
            var status = await StatusAsync(url, proxy, "1000");
            if (Text(status, "status") != "PENDING")
            {
                return status;
            }
            giveUp.Token.ThrowIfCancellationRequested();
        }
    }

    private async Task<JsonElement> StatusAsync(
        string url, int proxy, string timeout, HttpStatusCode expected = HttpStatusCode.OK)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, Url(proxy, url));
        request.Headers.Add("billing-timeout-ms", timeout);
        using var response = await _http.SendAsync(request);
        var status = await JsonAsync(response);
        Assert.Equal(expected, response.StatusCode);
        Assert.Equal(
            expected == HttpStatusCode.OK && Text(status, "status") == "PENDING",
            response.Headers.RetryAfter is not null);
        return status;
    }

    private Uri Url(int proxy, string path) => new(_stack.Stack.RestAddresses[proxy] + path);

    private static async Task<JsonElement> JsonAsync(HttpResponseMessage response)
    {
        using var json = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        return json.RootElement.Clone();
    }

    private static string? Text(JsonElement json, string name) =>
        json.TryGetProperty(name, out var value) ? value.GetString() : null;
}
