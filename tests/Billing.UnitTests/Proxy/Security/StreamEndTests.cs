using System.Net;
using System.Net.Http.Headers;
using Billing.Contracts;
using Billing.Operator.Credentials;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>Streams that stay open after the token of their caller has expired, or for ever.</summary>
public sealed class StreamEndTests : IAsyncLifetime
{
    private static readonly TimeSpan Validity = TimeSpan.FromMinutes(5);

    private readonly ManualTime _time = new();
    private SecureProxy _proxy = null!;
    private TokenIssuer _tokens = null!;

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _proxy = await SecureProxy.StartAsync(
            new() { ["Billing:Auth:ClockSkew"] = "00:00:00", ["Billing:Limits:ConnectionAgeMax"] = "00:08:00" }, _time);
        _tokens = TokenIssuer.Of(_proxy.Tokens.Pem, _time);
    }

    public ValueTask DisposeAsync()
    {
        _tokens.Dispose();
        return _proxy.DisposeAsync();
    }

    [Theory]
    [InlineData(5, StatusCode.Unauthenticated, ErrorReasons.TokenExpired)]
    [InlineData(60, StatusCode.Unavailable, ErrorReasons.StreamTooOld)]
    public async Task A_stream_of_payments_answers_what_it_has_read_and_ends_with_its_token_or_at_its_greatest_age(
        int minutes, StatusCode status, string reason)
    {
        var answer = new TaskCompletionSource<Reply>();
        var read = new TaskCompletionSource();
        _proxy.Backend.Answer = _ =>
        {
            read.TrySetResult();
            return answer.Task;
        };
        using var stream = _proxy.Client(Token(TimeSpan.FromMinutes(minutes))).MakePayments(cancellationToken: Stop);
        await stream.RequestStream.WriteAsync(Samples.Payment(), Stop);
        await read.Task;

        _time.Advance(TimeSpan.FromMinutes(9));
        answer.SetResult(FakeBackend.Accepted(_proxy.Backend.Commands.Last()));

        Assert.True(await stream.ResponseStream.MoveNext(Stop));
        var ended = await Assert.ThrowsAsync<RpcException>(() => stream.ResponseStream.MoveNext(Stop));
        Assert.Equal((status, reason), (ended.StatusCode, ended.Reason()));
    }

    [Fact]
    public async Task A_statement_is_read_no_further_than_its_callers_token_is_valid()
    {
        var asked = 0;
        _proxy.Backend.Answer = command =>
        {
            if (++asked == 2)
            {
                _time.Advance(Validity);
            }
            return Task.FromResult(Page(command));
        };
        using var statement = _proxy.Client(Token(Validity)).StreamStatement(
            new ListStatementRequest { AccountId = "acct-1", PaymentType = PaymentType.Visa }, cancellationToken: Stop);

        var ended = await Assert.ThrowsAsync<RpcException>(async () =>
        {
            while (await statement.ResponseStream.MoveNext(Stop))
            {
            }
        });

        Assert.Equal(ErrorReasons.TokenExpired, ended.Reason());
        Assert.Equal(2, asked);
    }

    [Fact]
    public async Task The_live_page_is_sent_nothing_after_its_callers_token_has_expired()
    {
        // Short enough that the snapshots of this time, all at once, are not too many for a watcher.
        var validity = TimeSpan.FromSeconds(2);
        using var http = new HttpClient(_proxy.Handler()) { BaseAddress = _proxy.Admin };
        http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", Token(validity));
        using var events = await http.GetAsync(
            new Uri("/live/events", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead, Stop);
        Assert.Equal(HttpStatusCode.OK, events.StatusCode);
        await using var body = await events.Content.ReadAsStreamAsync(Stop);
        var buffer = new byte[100_000];
        Assert.NotEqual(0, await body.ReadAsync(buffer, Stop));

        _time.Advance(validity);

        // A snapshot that is being sent is cut off.
        try
        {
            while (await body.ReadAsync(buffer, Stop) > 0)
            {
            }
        }
        catch (IOException)
        {
        }
    }

    private static Reply Page(Command command)
    {
        var page = new StatementPage { HasMore = true };
        page.Entries.Add(new StatementEntry { Version = command.Statement.AfterVersion + 1 });
        return new Reply { CorrelationId = command.CorrelationId, Statement = page };
    }

    private string Token(TimeSpan validity) =>
        _tokens.Issue("somebody", ["payments:write", "accounts:read", "operations:read"], ["*/*"], validity);
}
