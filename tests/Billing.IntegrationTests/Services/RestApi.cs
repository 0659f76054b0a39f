using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Billing.Contracts;
using Billing.V1;

namespace Billing.IntegrationTests.Services;

/// <summary>The REST API of a whole stack.</summary>
[Collection(InOneProcess.Name)]
public sealed class RestApi : IDisposable
{
    private readonly EmbeddedStack _stack;
    private readonly HttpClient _http;

    public RestApi(EmbeddedStack stack)
    {
        _stack = stack;
        _http = new HttpClient { BaseAddress = new Uri(stack.Stack.RestAddresses[0]) };
    }

    public void Dispose() => _http.Dispose();

    [Theory]
    [InlineData("VISA")]
    [InlineData("mastercard")]
    [InlineData("Discover")]
    [InlineData("aMeX")]
    public async Task A_payment_is_accepted_and_the_balance_and_the_statement_show_it(string type)
    {
        var (account, id) = (StackFixture.NewAccount(), Guid.NewGuid().ToString());

        var paid = await PayAsync(id, account, "12", 340_000_000, type);
        var balance = await GetAsync(
            $"/v1/accounts/{type}/{account}/balance?min_version={paid.Json.GetProperty("version").GetInt64()}");
        var statement = await GetAsync($"/v1/accounts/{type}/{account}/statement");

        Assert.Equal(HttpStatusCode.OK, paid.Status);
        Assert.Equal(id, Text(paid.Json, "transaction_id"));
        Assert.Equal("ACCEPTED", Text(paid.Json, "outcome"));
        AssertMoney(12.34m, paid.Json.GetProperty("balance"));
        Assert.Equal(1, balance.Json.GetProperty("version").GetInt64());
        AssertMoney(12.34m, balance.Json.GetProperty("balance"));
        AssertMoney(10_000 - 12.34m, balance.Json.GetProperty("available"));
        AssertMoney(10_000, balance.Json.GetProperty("credit_limit"));
        var entry = Assert.Single(statement.Json.GetProperty("entries").EnumerateArray());
        Assert.Equal("PAYMENT_ACCEPTED", Text(entry, "type"));
        Assert.Equal(id, Text(entry, "transaction_id"));
        AssertMoney(12.34m, entry.GetProperty("amount"));
        Assert.False(statement.Json.TryGetProperty("next_page_token", out _));
    }

    [Fact]
    public async Task A_payment_is_found_by_its_id_with_the_account_in_the_body()
    {
        var (account, id) = (StackFixture.NewAccount(), Guid.NewGuid().ToString());
        var paid = await PayAsync(id, account, "12", 340_000_000);
        var body = $$"""{"account_id":"{{account}}","payment_type":"visa"}""";

        var found = await PostAsync($"/v1/transactions/{id}/lookup", body);

        Assert.Equal(HttpStatusCode.OK, found.Status);
        var entry = found.Json.GetProperty("entry");
        Assert.Equal(("PAYMENT_ACCEPTED", id), (Text(entry, "type"), Text(entry, "transaction_id")));
        AssertMoney(12.34m, entry.GetProperty("amount"));
        AssertMoney(12.34m, found.Json.GetProperty("payment").GetProperty("charged"));
        Assert.Equal(paid.Json.GetProperty("version").GetInt64(), entry.GetProperty("version").GetInt64());
        Assert.Equal(Text(paid.Json, "decide_time"), Text(entry, "decide_time"));
        AssertProblem(
            await PostAsync($"/v1/transactions/{Guid.NewGuid()}/lookup", body),
            HttpStatusCode.NotFound, ErrorReasons.TransactionNotFound, null);
        AssertProblem(
            await PostAsync($"/v1/transactions/{id}/lookup", "{}"),
            HttpStatusCode.BadRequest, ErrorReasons.InvalidField, "account_id");
        AssertProblem(
            await PostAsync("/v1/transactions/1/lookup", body), HttpStatusCode.BadRequest,
            ErrorReasons.InvalidField, "transaction_id");
    }

    [Fact]
    public async Task What_is_kept_with_a_payment_is_in_its_statement_and_found_with_it()
    {
        var (account, id) = (StackFixture.NewAccount(), Guid.NewGuid().ToString());
        const string Notes = """{"reference":"order 7","metadata":{"shop":"Bern"}}""";

        var paid = await PayAsync(Notes);
        var repeated = await PayAsync("""{"reference":"order 8"}""");
        var found = await PostAsync(
            $"/v1/transactions/{id}/lookup", $$"""{"account_id":"{{account}}","payment_type":"visa"}""");
        var statement = await GetAsync($"/v1/accounts/visa/{account}/statement");

        Assert.Equal((HttpStatusCode.OK, HttpStatusCode.Conflict), (paid.Status, repeated.Status));
        Assert.Equal(Notes, found.Json.GetProperty("entry").GetProperty("notes").GetRawText());
        Assert.Equal(
            Notes,
            Assert.Single(statement.Json.GetProperty("entries").EnumerateArray()).GetProperty("notes").GetRawText());
        AssertProblem(
            await PayAsync("""{"metadata":{"shop":null}}"""), HttpStatusCode.BadRequest,
            ErrorReasons.InvalidField, "notes.metadata[shop]");

        Task<(HttpStatusCode Status, JsonElement Json)> PayAsync(string notes) => PutAsync(
            "/v1/payments/" + id,
            $$"""{"account_id":"{{account}}","payment_type":"VISA","amount":{"currency_code":"USD","units":"""
                + $$"""1},"notes": {{notes}} }""");
    }

    [Fact]
    public async Task The_balance_of_the_past_and_pages_of_a_statement_are_read_with_the_account_in_the_body()
    {
        var account = StackFixture.NewAccount();
        var holder = $"\"account_id\":\"{account}\",\"payment_type\":\"visa\"";
        await PayAsync(Guid.NewGuid().ToString(), account, "12", 340_000_000);
        await PayAsync(Guid.NewGuid().ToString(), account, "10001");
        await PayAsync(Guid.NewGuid().ToString(), account, "1");
        Task<(HttpStatusCode Status, JsonElement Json)> At(string what) =>
            PostAsync("/v1/balances/lookup", $"{{{holder}{what}}}");
        Task<(HttpStatusCode Status, JsonElement Json)> List(string what) =>
            PostAsync("/v1/statements/lookup", $"{{{holder}{what}}}");

        var whole = await List("");
        var (first, last) = (whole.Json.GetProperty("entries")[0], whole.Json.GetProperty("entries")[2]);
        var opening = await At(",\"version\":0");
        var byVersion = await At(",\"version\":\"2\"");
        var byTime = await At($",\"time\":\"{Text(last, "decide_time")}\"");
        var page = await List(",\"types\":[\"PAYMENT_ACCEPTED\"],\"page_size\":1");
        var next = await List(
            $",\"types\":[\"PAYMENT_ACCEPTED\"],\"page_token\":\"{Text(page.Json, "next_page_token")}\"");
        var range = await List(
            $",\"start_time\":\"{Text(first, "decide_time")}\",\"end_time\":\"{Text(last, "decide_time")}\"");

        Assert.Equal(HttpStatusCode.OK, byVersion.Status);
        Assert.False(opening.Json.TryGetProperty("decide_time", out _));
        AssertMoney(12.34m, byVersion.Json.GetProperty("balance"));
        AssertMoney(10_000 - 12.34m, byVersion.Json.GetProperty("available"));
        AssertMoney(13.34m, byTime.Json.GetProperty("balance"));
        Assert.Equal([1, 2, 3], Versions(whole));
        Assert.Equal([1L], Versions(page));
        Assert.Equal([3L], Versions(next));
        Assert.False(next.Json.TryGetProperty("next_page_token", out _));
        Assert.Equal([1L, 2], Versions(range));
        AssertProblem(await At(",\"version\":4"), HttpStatusCode.BadRequest, ErrorReasons.VersionNotReached, "version");
        foreach (var (what, field) in ((string, string)[])
            [("", "version"), (",\"version\":-1", "version"), (
                ",\"version\":\"x\"", "version"), (",\"version\":1,\"time\":\"2026-01-31T12:00:00Z\"", "time"),
                (",\"time\":\"yesterday\"", "time"),
                (",\"time\":\"2026-02-30T12:00:00Z\"", "time"), (",\"time\":1", "time")])
        {
            AssertProblem(await At(what), HttpStatusCode.BadRequest, ErrorReasons.InvalidField, field);
        }
        foreach (var (what, field) in ((string, string)[])
            [(",\"types\":[\"SOMETHING\"]", "types"), (",\"types\":\"PAYMENT_ACCEPTED\"", "types"), (
                ",\"page_size\":-1", "page_size"), (",\"start_time\":\"x\"", "start_time"),
                (",\"start_time\":\"2026-01-31T12:00:00Z\",\"end_time\":\"2026-01-31T12:00:00Z\"", "end_time"),
                ($",\"page_token\":\"{Text(page.Json, "next_page_token")}\"", "page_token")])
        {
            AssertProblem(await List(what), HttpStatusCode.BadRequest, ErrorReasons.InvalidField, field);
        }

        static List<long> Versions((HttpStatusCode Status, JsonElement Json) answer) =>
            [
                .. answer.Json.GetProperty("entries").EnumerateArray()
                    .Select(entry => entry.GetProperty("version").GetInt64()),
            ];
    }

    [Fact]
    public async Task A_payment_is_given_back_and_its_statement_names_it()
    {
        var (account, payment, refund) =
            (StackFixture.NewAccount(), Guid.NewGuid().ToString(), Guid.NewGuid().ToString());
        await PayAsync(payment, account, "12", 340_000_000);

        var refunded = await RefundAsync(refund, account, payment, 12);
        var tooMuch = await RefundAsync(Guid.NewGuid().ToString(), account, payment, 1);
        var statement = await GetAsync($"/v1/accounts/visa/{account}/statement?after_version=1");

        Assert.Equal(HttpStatusCode.OK, refunded.Status);
        Assert.Equal((refund, payment), (Text(refunded.Json, "transaction_id"), Text(refunded.Json, "payment_id")));
        AssertMoney(12, refunded.Json.GetProperty("refunded"));
        AssertMoney(0.34m, refunded.Json.GetProperty("balance"));
        AssertProblem(tooMuch, HttpStatusCode.BadRequest, ErrorReasons.AmountTooLarge, "amount");
        AssertProblem(
            await RefundAsync(refund, account, "", 1),
            HttpStatusCode.BadRequest, ErrorReasons.InvalidField, "payment_id");
        var entry = Assert.Single(statement.Json.GetProperty("entries").EnumerateArray());
        Assert.Equal(
            ("PAYMENT_REFUNDED", refund, payment),
            (Text(entry, "type"), Text(entry, "transaction_id"), Text(entry, "payment_id")));
    }

    [Fact]
    public async Task An_amount_is_put_on_hold_captured_in_part_and_voided_and_the_balance_and_the_payment_show_it()
    {
        var (account, payment, capture, release) =
            (StackFixture.NewAccount(), Guid.NewGuid().ToString(),
                Guid.NewGuid().ToString(), Guid.NewGuid().ToString());
        var holder = $"\"account_id\":\"{account}\",\"payment_type\":\"visa\"";
        var part = $$$"""{{{{holder}}},"payment_id":"{{{payment}}}","amount":{"currency_code":"USD","units":4}}""";

        var authorised = await PutAsync(
            $"/v1/authorisations/{payment}",
            $$$"""{{{{holder}}},"amount":{"currency_code":"USD","units":10},"hold_duration":"3600s"}""");
        var captured = await PutAsync($"/v1/captures/{capture}", part);
        var balance = await GetAsync($"/v1/accounts/visa/{account}/balance?min_version=2");
        var voided = await PutAsync($"/v1/voids/{release}", $$$"""{{{{holder}}},"payment_id":"{{{payment}}}"}""");
        var tooLate = await PutAsync($"/v1/captures/{Guid.NewGuid()}", part);
        var found = await PostAsync($"/v1/transactions/{payment}/lookup", $"{{{holder}}}");
        var statement = await GetAsync($"/v1/accounts/visa/{account}/statement");

        Assert.Equal(
            (HttpStatusCode.OK, payment, "ACCEPTED"),
            (authorised.Status, Text(authorised.Json, "transaction_id"), Text(authorised.Json, "outcome")));
        AssertMoney(0, authorised.Json.GetProperty("balance"));
        AssertMoney(10, authorised.Json.GetProperty("on_hold"));
        Assert.Equal(
            (HttpStatusCode.OK, capture, payment),
            (captured.Status, Text(captured.Json, "transaction_id"), Text(captured.Json, "payment_id")));
        AssertMoney(4, captured.Json.GetProperty("charged"));
        AssertMoney(6, captured.Json.GetProperty("held"));
        AssertMoney(6, balance.Json.GetProperty("on_hold"));
        AssertMoney(9_990, balance.Json.GetProperty("available"));
        Assert.Equal(
            (HttpStatusCode.OK, release, payment),
            (voided.Status, Text(voided.Json, "transaction_id"), Text(voided.Json, "payment_id")));
        AssertMoney(6, voided.Json.GetProperty("released"));
        AssertProblem(tooLate, HttpStatusCode.BadRequest, ErrorReasons.NotOnHold, "payment_id");
        AssertMoney(4, found.Json.GetProperty("payment").GetProperty("charged"));
        AssertMoney(0, found.Json.GetProperty("payment").GetProperty("held"));
        var entries = statement.Json.GetProperty("entries").EnumerateArray().ToList();
        Assert.Equal(
            ["PAYMENT_AUTHORISED", "PAYMENT_CAPTURED", "AUTHORISATION_VOIDED"],
            entries.Select(entry => Text(entry, "type")));
        AssertMoney(6, entries[1].GetProperty("on_hold"));
        Assert.Equal(Text(authorised.Json, "expire_time"), Text(found.Json.GetProperty("payment"), "expire_time"));
        Assert.Equal(
            entries[0].GetProperty("decide_time").GetDateTime().AddHours(1),
            authorised.Json.GetProperty("expire_time").GetDateTime(), TimeSpan.FromMicroseconds(1));
    }

    [Theory]
    [InlineData("/health/live", "live")]
    [InlineData("/health/ready", "ready")]
    public async Task The_health_endpoints_report_the_state_of_the_proxy(string path, string answer) =>
        Assert.Equal(
            answer, await _http.GetStringAsync(new Uri(path, UriKind.Relative), TestContext.Current.CancellationToken));

    [Theory]
    [InlineData("12", 0)]
    [InlineData("\"12\"", 0)]
    public async Task Units_are_read_as_a_number_or_as_a_string_and_written_as_a_string(string units, int nanos)
    {
        var paid = await PayAsync(Guid.NewGuid().ToString(), StackFixture.NewAccount(), units, nanos);

        Assert.Equal("12", Text(paid.Json.GetProperty("balance"), "units"));
        Assert.Equal(JsonValueKind.Number, paid.Json.GetProperty("balance").GetProperty("nanos").ValueKind);
    }

    [Fact]
    public async Task A_declined_payment_is_a_successful_response_with_its_reason()
    {
        var declined = await PayAsync(Guid.NewGuid().ToString(), StackFixture.NewAccount(), "10001");

        Assert.Equal(HttpStatusCode.OK, declined.Status);
        Assert.Equal("DECLINED", Text(declined.Json, "outcome"));
        Assert.Equal("CREDIT_LIMIT_EXCEEDED", Text(declined.Json, "decline_reason"));
        Assert.NotEmpty(Text(declined.Json, "message")!);
    }

    [Fact]
    public async Task The_same_transaction_over_gRPC_and_REST_gets_the_same_answer_and_stores_one_event()
    {
        var payment = StackFixture.Payment(amount: 7.5m);

        var first = await _stack.Proxy().MakePaymentAsync(payment);
        var again = await PayAsync(payment.TransactionId, payment.AccountId, "7", 500_000_000);
        var other = await PayAsync(payment.TransactionId, payment.AccountId, "8");

        Assert.Equal(first.Version, again.Json.GetProperty("version").GetInt64());
        Assert.Equal(nameof(PaymentOutcome.Accepted), Text(again.Json, "outcome"), ignoreCase: true);
        AssertMoney(first.Balance.ToDecimal(), again.Json.GetProperty("balance"));
        AssertProblem(other, HttpStatusCode.Conflict, ErrorReasons.TransactionIdReused, null);
        Assert.Equal(1, await _stack.CountEventsAsync(payment.AccountId));
    }

    [Fact]
    public async Task A_credit_limit_is_set_once_and_applies_to_later_payments()
    {
        var account = StackFixture.NewAccount();
        var body = $$$"""{"transaction_id":"{{{Guid.NewGuid()}}}","limit":{"currency_code":"USD","units":50}}""";

        var set = await PutAsync($"/v1/accounts/visa/{account}/credit-limit", body);
        var again = await PutAsync($"/v1/accounts/visa/{account}/credit-limit", body);
        var declined = await PayAsync(Guid.NewGuid().ToString(), account, "51");
        var foreign = await PutAsync($"/v1/accounts/visa/{account}/credit-limit",
            $$$"""{"transaction_id":"{{{Guid.NewGuid()}}}","limit":{"currency_code":"EUR","units":50}}""");

        Assert.Equal(
            set.Json.GetRawText().Replace("\"replayed\":false", "\"replayed\":true", StringComparison.Ordinal),
            again.Json.GetRawText());
        AssertMoney(50, set.Json.GetProperty("limit"));
        Assert.Equal("DECLINED", Text(declined.Json, "outcome"));
        AssertProblem(foreign, HttpStatusCode.BadRequest, ErrorReasons.CurrencyMismatch, "limit.currency_code");
    }

    [Fact]
    public async Task An_account_is_frozen_once_and_declines_payments_and_one_that_owes_something_is_not_closed()
    {
        var account = StackFixture.NewAccount();
        await PayAsync(Guid.NewGuid().ToString(), account, "7");
        var body = Body("FROZEN");

        var set = await PutAsync($"/v1/accounts/visa/{account}/status", body);
        var again = await PutAsync($"/v1/accounts/visa/{account}/status", body);
        var declined = await PayAsync(Guid.NewGuid().ToString(), account, "1");
        var closed = await PutAsync($"/v1/accounts/visa/{account}/status", Body("CLOSED"));
        var balance = await GetAsync($"/v1/accounts/visa/{account}/balance?min_version=3");
        var entries = (await GetAsync($"/v1/accounts/visa/{account}/statement")).Json.GetProperty("entries");

        Assert.Equal(
            set.Json.GetRawText().Replace("\"replayed\":false", "\"replayed\":true", StringComparison.Ordinal),
            again.Json.GetRawText());
        Assert.Equal("FROZEN", Text(set.Json, "account_status"));
        AssertMoney(7, set.Json.GetProperty("balance"));
        AssertMoney(0, set.Json.GetProperty("on_hold"));
        Assert.Equal(
            ("DECLINED", "ACCOUNT_FROZEN"), (Text(declined.Json, "outcome"), Text(declined.Json, "decline_reason")));
        AssertProblem(closed, HttpStatusCode.BadRequest, ErrorReasons.AccountNotEmpty, "account_status");
        Assert.Equal("FROZEN", Text(balance.Json, "account_status"));
        Assert.Equal(
            ["OPEN", "FROZEN", "FROZEN"], entries.EnumerateArray().Select(entry => Text(entry, "account_status")));
        Assert.Equal("ACCOUNT_STATUS_CHANGED", Text(entries[1], "type"));
        Assert.False(entries[1].TryGetProperty("amount", out _));
        foreach (var unknown in (string[])
        [
            "ACCOUNT_STATUS_FROZEN", "account_status_frozen", "ACCOUNT_STATUS_UNSPECIFIED", "",
        ])
        {
            AssertProblem(
                await PutAsync($"/v1/accounts/visa/{account}/status", Body(unknown)), HttpStatusCode.BadRequest,
                ErrorReasons.InvalidField, "account_status");
        }
        // What is there is not said to be missing.
        Assert.Contains(
            "it is '0'", (await PutAsync($"/v1/accounts/visa/{account}/status", Body("0"))).Json.GetRawText(),
            StringComparison.Ordinal);

        static string Body(string status) =>
            $$"""{"transaction_id":"{{Guid.NewGuid()}}","account_status":"{{status}}"}""";
    }

    [Fact]
    public async Task A_statement_can_be_read_in_pages_up_to_the_last_event()
    {
        var account = StackFixture.NewAccount();
        for (var i = 0; i < 5; i++)
        {
            await PayAsync(Guid.NewGuid().ToString(), account, "1");
        }

        var versions = new List<long>();
        var token = "";
        while (token is not null)
        {
            var page = (await GetAsync(
                $"/v1/accounts/visa/{account}/statement?page_size=2&after_version=1&types=PAYMENT_ACCEPTED&"
                + $"types=PAYMENT_DECLINED&start_time=2026-01-01T00:00:00Z&page_token={token}")).Json;
            versions.AddRange(
                page.GetProperty("entries").EnumerateArray().Select(e => e.GetProperty("version").GetInt64()));
            token = page.TryGetProperty("next_page_token", out var value) ? value.GetString() : null;
        }

        Assert.Equal([2L, 3, 4, 5], versions);
    }

    /// <summary>Whichever answer it comes from.</summary>
    [Fact]
    public async Task The_time_of_an_event_finds_that_event()
    {
        var account = StackFixture.NewAccount();
        var ids = Enumerable.Range(0, 5).Select(_ => Guid.NewGuid().ToString()).ToList();
        foreach (var id in ids)
        {
            await PayAsync(id, account, "1");
        }
        var entries = (await GetAsync(
            $"/v1/accounts/visa/{account}/statement")).Json.GetProperty("entries").EnumerateArray().ToList();

        foreach (var (id, entry) in ids.Zip(entries))
        {
            var decided = Text(entry, "decide_time")!;
            var found = (await PostAsync(
                $"/v1/transactions/{id}/lookup", $$"""{"account_id":"{{account}}","payment_type":"visa"}""")).Json;
            var past = (await PostAsync(
                "/v1/balances/lookup",
                $$"""{"account_id":"{{account}}","payment_type":"visa","time":"{{decided}}"}""")).Json;
            var from = (await PostAsync(
                "/v1/statements/lookup",
                $$"""{"account_id":"{{account}}","payment_type":"visa","start_time":"{{decided}}"}""")).Json;

            Assert.Matches(@"^[^.]*(\.[0-9]{1,6})?Z$", decided);
            Assert.Equal(decided, Text(found.GetProperty("entry"), "decide_time"));
            Assert.Equal(
                (decided, entry.GetProperty("version").GetInt64()),
                (Text(past, "decide_time"), past.GetProperty("version").GetInt64()));
            Assert.Equal(
                entry.GetProperty("version").GetInt64(),
                from.GetProperty("entries")[0].GetProperty("version").GetInt64());
        }
        Assert.Matches(
            @"^[^.]*(\.[0-9]{1,6})?Z$",
            Text((await GetAsync($"/v1/accounts/visa/{account}/balance")).Json, "read_time"));
    }

    [Theory]
    [InlineData(
        """{"account_id":"a","payment_type":"visa","amount":{"currency_code":"USD","units":"1x"}}""", "amount.units")]
    [InlineData(
        """{"account_id":"a","payment_type":"visa","amount":{"currency_code":"USD","units":1.5}}""", "amount.units")]
    [InlineData(
        """{"account_id":"a","payment_type":"visa","amount":{"currency_code":"USD","units":1e30}}""", "amount.units")]
    [InlineData(
        """{"account_id":"a","payment_type":"visa","amount":{"currency_code":"USD","units":1,"nanos":"5"}}""",
        "amount.nanos")]
    [InlineData(
        """{"account_id":"a","payment_type":"visa","amount":{"currency_code":"USD","units":1,"cents":5}}""",
        "amount.cents")]
    [InlineData(
        """{"account_id":"a","payment_type":"visa","amount":{"currency_code":"usd","units":1}}""",
        "amount.currency_code")]
    [InlineData("""{"account_id":"a","payment_type":"visa","amount":{"currency_code":"USD","units":0}}""", "amount")]
    [InlineData("""{"account_id":"a","payment_type":"visa","amount":"12.34 USD"}""", "amount")]
    [InlineData("""{"account_id":"a","payment_type":"visa"}""", "amount")]
    [InlineData(
        """{"account_id":"a","payment_type":"diners","amount":{"currency_code":"USD","units":1}}""", "payment_type")]
    [InlineData("""{"account_id":"a","payment_type":1,"amount":{"currency_code":"USD","units":1}}""", "payment_type")]
    [InlineData("""{"account_id":"a","amount":{"currency_code":"USD","units":1}}""", "payment_type")]
    [InlineData(
        """{"account_id":"a/b","payment_type":"visa","amount":{"currency_code":"USD","units":1}}""", "account_id")]
    [InlineData("""{"account_id":"a","account_id":"b"}""", "account_id")]
    [InlineData("""{"account":"a"}""", "account")]
    [InlineData("{}", "account_id")]
    public async Task An_invalid_field_of_a_payment_is_rejected_with_its_name(string body, string field) =>
        AssertProblem(
            await PutAsync("/v1/payments/" + Guid.NewGuid(), body),
            HttpStatusCode.BadRequest, ErrorReasons.InvalidField, field);

    [Theory]
    [InlineData("")]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("hello")]
    [InlineData("""{"account_id":"a" """)]
    [InlineData("""{"account_id":"a"} {}""")]
    public async Task A_body_that_is_no_JSON_object_is_rejected(string body) => AssertProblem(
        await PutAsync("/v1/payments/" + Guid.NewGuid(), body),
        HttpStatusCode.BadRequest, ErrorReasons.MalformedBody, null);

    [Theory]
    [InlineData("/v1/accounts/visa/a/balance?min_version=x", ErrorReasons.InvalidField, "min_version")]
    [InlineData("/v1/accounts/visa/a/balance?min_version=-1", ErrorReasons.InvalidField, "min_version")]
    [InlineData("/v1/accounts/visa/a/balance?minversion=1", ErrorReasons.InvalidField, "minversion")]
    [InlineData("/v1/accounts/visa/a/balance?min_version=9", ErrorReasons.VersionNotReached, "min_version")]
    [InlineData("/v1/accounts/diners/a/balance", ErrorReasons.InvalidField, "payment_type")]
    [InlineData("/v1/accounts/visa/a%20b/balance", ErrorReasons.InvalidField, "account_id")]
    [InlineData("/v1/accounts/visa/a/statement?page_size=-1", ErrorReasons.InvalidField, "page_size")]
    [InlineData("/v1/accounts/visa/a/statement?limit=1", ErrorReasons.InvalidField, "limit")]
    [InlineData("/v1/accounts/visa/a/statement?types=PAYMENT", ErrorReasons.InvalidField, "types")]
    [InlineData("/v1/accounts/visa/a/statement?start_time=today", ErrorReasons.InvalidField, "start_time")]
    [InlineData("/v1/accounts/visa/a/statement?page_token=AAAA", ErrorReasons.InvalidField, "page_token")]
    [InlineData("/v1/accounts/visa/a/statement?after_version=-1", ErrorReasons.InvalidField, "after_version")]
    [InlineData("/v1/payments/1/status", ErrorReasons.InvalidField, "transaction_id")]
    [InlineData("/v1/payments/00000000-0000-0000-0000-000000000001/status", ErrorReasons.InvalidField, "link")]
    [InlineData(
        "/v1/payments/00000000-0000-0000-0000-000000000001/status?link=AAAA", ErrorReasons.InvalidField, "link")]
    [InlineData(
        "/v1/payments/00000000-0000-0000-0000-000000000001/status?account_id=a",
        ErrorReasons.InvalidField, "account_id")]
    public async Task An_invalid_part_of_a_URL_is_rejected_with_its_name(string path, string reason, string field) =>
        AssertProblem(await GetAsync(path), HttpStatusCode.BadRequest, reason, field);

    [Fact]
    public async Task A_transaction_id_that_is_no_UUID_is_rejected_with_its_name() => AssertProblem(
        await PayAsync("first", "a", "1"), HttpStatusCode.BadRequest, ErrorReasons.InvalidField, "transaction_id");

    [Fact]
    public async Task A_body_that_is_too_large_is_rejected_with_the_setting_that_limits_it()
    {
        var refused = await PutAsync(
            "/v1/payments/" + Guid.NewGuid(), $$"""{"account_id":"{{new string('a', 70_000)}}"}""");

        AssertProblem(refused, HttpStatusCode.RequestEntityTooLarge, ErrorReasons.RequestTooLarge, null);
        Assert.Contains("Billing:Proxy:RequestBytesMax", Text(refused.Json, "detail"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("GET", "/v1/nothing", "application/json", HttpStatusCode.NotFound)]
    [InlineData(
        "POST", "/v1/payments/00000000-0000-0000-0000-000000000001",
        "application/json", HttpStatusCode.MethodNotAllowed)]
    [InlineData(
        "PUT", "/v1/payments/00000000-0000-0000-0000-000000000001", "text/plain", HttpStatusCode.UnsupportedMediaType)]
    public async Task Unknown_routes_methods_and_media_types_are_answered_with_a_problem_document(
        string method, string path, string type, HttpStatusCode status)
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), path)
        {
            Content = new StringContent("{}", new MediaTypeHeaderValue(type)),
        };

        AssertProblem(await SendAsync(request), status, null, null);
    }

    [Fact]
    public async Task The_OpenAPI_document_describes_every_request_and_its_page_loads_nothing_from_other_hosts()
    {
        var document = await GetAsync("/openapi/v1.json");
        var page = await _http.GetStringAsync(new Uri("/docs/index.html", UriKind.Relative));
        var script = await _http.GetAsync(new Uri("/docs/swagger-ui-bundle.js", UriKind.Relative));

        Assert.Equal(
            [
                "/v1/accounts/{payment_type}/{account_id}/balance",
                "/v1/accounts/{payment_type}/{account_id}/credit-limit",
                "/v1/accounts/{payment_type}/{account_id}/statement", "/v1/accounts/{payment_type}/{account_id}/status",
                "/v1/authorisations/{transaction_id}", "/v1/balances/lookup", "/v1/captures/{transaction_id}",
                "/v1/payments/{transaction_id}", "/v1/payments/{transaction_id}/status",
                "/v1/refunds/{transaction_id}", "/v1/statements/lookup",
                "/v1/transactions/{transaction_id}/lookup", "/v1/voids/{transaction_id}",
            ],
            document.Json.GetProperty("paths").EnumerateObject().Select(p => p.Name).Order(StringComparer.Ordinal));
        var payment = document.Json.GetProperty("paths").GetProperty("/v1/payments/{transaction_id}")
            .GetProperty("put");
        Assert.Contains(
            "Prefer",
            payment.GetProperty("parameters").EnumerateArray().Select(p => p.GetProperty("name").GetString()));
        Assert.True(payment.GetProperty("responses").TryGetProperty("202", out _));
        Assert.DoesNotContain("src=\"http", page, StringComparison.Ordinal);
        Assert.DoesNotContain("href=\"http", page, StringComparison.Ordinal);
        Assert.Equal(HttpStatusCode.OK, script.StatusCode);
    }

    private Task<(HttpStatusCode Status, JsonElement Json)> PayAsync(
        string id, string account, string units, int nanos = 0, string type = "visa") => PutAsync(
        "/v1/payments/" + id,
        $$$"""{"account_id":"{{{account}}}","payment_type":"{{{type}}}","amount":{"currency_code":"USD","units":"""
            + $$$"""{{{units}}},"nanos":{{{nanos}}}}}""");

    private Task<(HttpStatusCode Status, JsonElement Json)> RefundAsync(
        string id, string account, string payment, int units) => PutAsync(
        "/v1/refunds/" + id,
        $$$"""{"account_id":"{{{account}}}","payment_type":"visa","payment_id":"{{{payment}}}","amount":"""
            + $$$"""{"currency_code":"USD","units":{{{units}}}}}""");

    private Task<(HttpStatusCode Status, JsonElement Json)> PutAsync(string path, string body) =>
        SendAsync(HttpMethod.Put, path, body);

    private Task<(HttpStatusCode Status, JsonElement Json)> PostAsync(string path, string body) =>
        SendAsync(HttpMethod.Post, path, body);

    private async Task<(HttpStatusCode Status, JsonElement Json)> SendAsync(HttpMethod method, string path, string body)
    {
        using var request = new HttpRequestMessage(method, path)
        {
            Content = new StringContent(body, new MediaTypeHeaderValue("application/json")),
        };
        return await SendAsync(request);
    }

    private async Task<(HttpStatusCode Status, JsonElement Json)> GetAsync(string path)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        return await SendAsync(request);
    }

    private async Task<(HttpStatusCode Status, JsonElement Json)> SendAsync(HttpRequestMessage request)
    {
        using var response = await _http.SendAsync(request);
        using var json = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        Assert.Equal(
            response.IsSuccessStatusCode ? "application/json" : "application/problem+json",
            response.Content.Headers.ContentType?.MediaType);
        return (response.StatusCode, json.RootElement.Clone());
    }

    private static void AssertProblem(
        (HttpStatusCode Status, JsonElement Json) answer, HttpStatusCode status, string? reason, string? field)
    {
        Assert.Equal(status, answer.Status);
        Assert.Equal((int)status, answer.Json.GetProperty("status").GetInt32());
        Assert.Equal(reason, Text(answer.Json, "reason"));
        Assert.Equal(field, Text(answer.Json, "field"));
        Assert.NotEmpty(Text(answer.Json, "detail")!);
    }

    private static void AssertMoney(decimal expected, JsonElement money) => Assert.Equal(
        expected,
        decimal.Parse(Text(money, "units")!, CultureInfo.InvariantCulture)
            + money.GetProperty("nanos").GetInt32() / 1e9m);

    private static string? Text(JsonElement json, string name) =>
        json.TryGetProperty(name, out var value) ? value.GetString() : null;
}
