using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Security;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Testing;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>The log of refusals.</summary>
public sealed class SecurityLogTests : IDisposable
{
    private static readonly Failure Refusal = new(StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed, "");

    private readonly ManualTime _time = new();
    private readonly FakeLoggerProvider _logs = new();

    public void Dispose() => _logs.Dispose();

    [Fact]
    public void Refusals_of_one_caller_for_one_reason_are_one_line_a_minute_with_their_number()
    {
        var log = NewLog();
        var caller = new Caller("Bearer", "alice", [], new AccountGrants([]), clientId: "web");

        for (var i = 0; i < 1000; i++)
        {
            log.Refused(caller, Refusal, "acct-1");
        }
        _time.Advance(TimeSpan.FromMinutes(1));
        log.Refused(caller, Refusal, "acct-2");

        Assert.Equal(
            [
                "alice (client id 'web') was refused acct-1: ACCOUNT_NOT_ALLOWED; "
                    + "0 more refusals like it since the last line",
                "alice (client id 'web') was refused acct-2: ACCOUNT_NOT_ALLOWED; "
                    + "999 more refusals like it since the last line",
            ],
            Lines());
    }

    [Fact]
    public void However_many_callers_are_refused_the_lines_of_a_minute_are_bounded_and_the_next_says_how_many_had_none()
    {
        var log = NewLog();

        for (var i = 0; i < 100_000; i++)
        {
            log.Refused(new Caller($"caller-{i}"), Refusal, "acct-1");
        }
        Assert.Equal(SecurityLog.LinesPerMinute, Lines().Count());
        _time.Advance(TimeSpan.FromMinutes(1));
        log.Refused(new Caller("the next"), Refusal, "acct-1");

        Assert.EndsWith(
            "; 0 more refusals like it since the last line",
            Lines().ElementAt(SecurityLog.LinesPerMinute), StringComparison.Ordinal);
        Assert.Equal(
            $"{100_000 - SecurityLog.LinesPerMinute} more refusals have no line, since a minute has at most 1024",
            Lines().Last());
    }

    [Fact]
    public void No_caller_hides_behind_another()
    {
        var log = NewLog();

        for (var i = 0; i < SecurityLog.LinesPerMinute; i++)
        {
            log.Refused(new Caller($"caller-{i}"), Refusal, "acct-1");
        }

        Assert.Equal(SecurityLog.LinesPerMinute, Lines().Count());
    }

    [Fact]
    public async Task Every_refusal_of_a_proxy_is_logged_with_who_it_was_and_without_the_token()
    {
        await using var proxy = await SecureProxy.StartAsync(logs: _logs);
        string[] tokens = ["garbage", proxy.Token("accounts:read", "*/*"), proxy.Token("payments:write", "visa/other")];
        foreach (var token in tokens)
        {
            await Assert.ThrowsAsync<RpcException>(
                () => proxy.Client(token).MakePaymentAsync(Samples.Payment()).ResponseAsync);
        }
        await Assert.ThrowsAsync<RpcException>(() => proxy.Client().MakePaymentAsync(Samples.Payment()).ResponseAsync);
        await Assert.ThrowsAsync<RpcException>(
            () => new BillingAdminService.BillingAdminServiceClient(proxy.Channel())
                .SetCreditLimitAsync(new SetCreditLimitRequest()).ResponseAsync);

        var lines = Lines().ToList();

        Assert.Equal(
            [
                ErrorReasons.TokenInvalid, ErrorReasons.ScopeMissing, ErrorReasons.AccountNotAllowed,
                ErrorReasons.TokenMissing, ErrorReasons.NotServedHere,
            ],
            lines.Select(line => line.Split(": ")[1].Split(';')[0]));
        Assert.All(lines, line => Assert.Contains(
            line.Contains("ACCOUNT", StringComparison.Ordinal) || line.Contains("SCOPE", StringComparison.Ordinal)
                ? "somebody"
                : "127.0.0.1",
            line, StringComparison.Ordinal));
        Assert.DoesNotContain(
            _logs.Collector.GetSnapshot(),
            line => tokens.Any(token => line.Message.Contains(token, StringComparison.Ordinal)));
    }

    private SecurityLog NewLog() => new(_time, new LoggerFactory([_logs]));

    private IEnumerable<string> Lines() =>
        _logs.Collector.GetSnapshot().Where(line => line.Category == SecurityLog.Category).Select(line => line.Message);
}
