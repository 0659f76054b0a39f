using System.Net.Http.Headers;
using System.Security.Cryptography;
using Billing.IntegrationTests.Services;
using Grpc.Core;
using Npgsql;

namespace Billing.IntegrationTests.Telemetry;

/// <summary>Who decides which calls are traced, where the settings say that none is.</summary>
[Collection(WithTokens.Name)]
public sealed class ForcedTraces(TokenStack stack)
{
    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_call_is_traced_if_its_caller_samples_it_and_may_force_traces_and_else_it_is_not()
    {
        var (unsampled, strange, refused) = (NewTrace(), NewTrace(), NewTrace());
        var payment = StackFixture.Payment();
        await PayAsync(StackFixture.Payment(), unsampled, sampled: false, "payments:write", "traces:force");
        await PayAsync(payment, strange, sampled: true, "payments:write");
        await Assert.ThrowsAsync<RpcException>(
            () => PayAsync(StackFixture.Payment(), refused, sampled: true, "traces:force"));

        // What comes later is exported later.
        var forced = NewTrace();
        var traced = StackFixture.Payment();
        await PayAsync(traced, forced, sampled: true, "payments:write", "traces:force");
        var spans = await SpansAsync(forced, "process");

        Assert.Contains(spans, span => span.Span.Name == "billing.v1.BillingService/MakePayment");
        Assert.All([unsampled, strange, refused], trace => Assert.Empty(stack.Telemetry.SpansOf(trace)));
        Assert.Equal(forced, await StoredAsync(traced.AccountId));
        Assert.Null(await StoredAsync(payment.AccountId));
    }

    [Fact]
    public async Task The_same_holds_over_REST()
    {
        var (strange, forced) = (NewTrace(), NewTrace());
        await ReadAsync(strange, "accounts:read");
        await ReadAsync(forced, "accounts:read", "traces:force");

        var spans = await SpansAsync(forced, "GET /v1/accounts/{payment_type}/{account_id}/balance");

        Assert.NotEmpty(spans);
        Assert.Empty(stack.Telemetry.SpansOf(strange));
    }

    [Fact]
    public async Task Log_lines_of_a_call_that_is_not_traced_have_the_id_of_its_callers_trace()
    {
        var trace = NewTrace();
        // A subject of its own: of refusals of one caller for one reason only the first is logged.
        var token = TokenStack.Token(["holds:write"], subject: "till");
        var headers = new Metadata
        {
            { "authorization", "Bearer " + token }, { "traceparent", ParentOf(trace, sampled: true) },
        };
        await Assert.ThrowsAsync<RpcException>(async () => await stack.Proxy().CheckBalanceAsync(
            new V1.CheckBalanceRequest { PaymentType = V1.PaymentType.Visa, AccountId = "acct-1" }, headers));

        await OtlpReceiver.WaitAsync(
            () => stack.Telemetry.LogLines,
            lines => lines.Any(line =>
                line.TraceId == trace && line.Text.Contains("was refused", StringComparison.Ordinal)),
            lines => string.Join('\n', lines));
    }

    private static string NewTrace() => Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(16));

    private static string ParentOf(string trace, bool sampled) =>
        $"00-{trace}-{Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(8))}-{(sampled ? "01" : "00")}";

    private async Task PayAsync(V1.MakePaymentRequest payment, string trace, bool sampled, params string[] scopes)
    {
        var headers = TokenStack.Bearer("*/*", scopes);
        headers.Add("traceparent", ParentOf(trace, sampled));
        await stack.Proxy().MakePaymentAsync(payment, headers);
    }

    private async Task ReadAsync(string trace, params string[] scopes)
    {
        using var http = new HttpClient { BaseAddress = new Uri(stack.Stack.RestAddresses[0]) };
        using var request = new HttpRequestMessage(HttpMethod.Get, "/v1/accounts/VISA/acct-1/balance");
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", TokenStack.Token(scopes));
        request.Headers.Add("traceparent", ParentOf(trace, sampled: true));
        using var answer = await http.SendAsync(request, Stop);
        answer.EnsureSuccessStatusCode();
    }

    private Task<List<ReceivedSpan>> SpansAsync(string trace, string name) => OtlpReceiver.WaitAsync(
        () => stack.Telemetry.SpansOf(trace), found => found.Exists(span => span.Span.Name == name),
        found => $"there is no {name} among\n{SpanTree.Draw(found)}");

    private async Task<string?> StoredAsync(string account)
    {
        await using var database = NpgsqlDataSource.Create(stack.ConnectionString);
        await using var read = database.CreateCommand(
            "select data ->> 'TraceId' from billing.mt_events where stream_id like '%/' || $1");
        read.Parameters.AddWithValue(account);
        return await read.ExecuteScalarAsync(Stop) as string;
    }
}
