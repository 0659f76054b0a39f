using Billing.Client;
using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Proxy;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;
using StatementPage = Billing.Wire.V1.StatementPage;

namespace Billing.UnitTests.Client;

public sealed class StatementReaderTests
{
    private readonly FakeBackend _backend = new();
    private int _failures;

    public StatementReaderTests() =>
        _backend.Answer = command => Task.FromResult(new Reply { Statement = Page(command.Statement) });

    [Fact]
    public async Task A_statement_is_read_to_its_end()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        Assert.Equal(Versions(1, 1_200), await ReadAsync(client, Request()));
    }

    [Fact]
    public async Task When_a_stream_breaks_reading_continues_at_the_next_proxy_after_the_last_page()
    {
        _failures = 2;
        _backend.Answer = command => Task.FromResult(command.Statement.AfterVersion == 400 && _failures-- > 0
            ? Replies.Error(0, StatusCode.Unavailable, ErrorReasons.EventStoreUnavailable, "the event store is down")
            : new Reply { Statement = Page(command.Statement) });
        await using var first = await ProxyHost.StartAsync(_backend);
        await using var second = await ProxyHost.StartAsync(_backend);
        using var client = Client(first, second);
        var request = Request();
        Assert.Equal(Versions(1, 1_200), await ReadAsync(client, request));
        Assert.Equal(2, client.Retried);
        Assert.Equal("", request.PageToken);
    }

    [Theory]
    [InlineData(0, 1_200)]
    [InlineData(1, 1)]
    [InlineData(501, 501)]
    [InlineData(1_000, 1_000)]
    public async Task A_statement_stops_at_its_limit(int limit, int last)
    {
        _backend.Answer = command =>
            Task.FromResult(new Reply { Statement = Page(command.Statement, Samples.TransactionId) });
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var versions = new List<long>();
        await foreach (var line in client.ReadStatementAsync(
            new CardAccount(CardNetwork.Visa, "acct-42"), limit: limit))
        {
            versions.Add(line.Version);
        }
        Assert.Equal(Versions(1, last), versions);
    }

    [Fact]
    public async Task A_persistent_failure_ends_the_reading_after_the_retries()
    {
        _backend.Answer = _ =>
            Task.FromResult(Replies.Error(0, StatusCode.Unavailable, ErrorReasons.EventStoreUnavailable, "away"));
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var e = await Assert.ThrowsAsync<RpcException>(() => ReadAsync(client, Request()));
        Assert.Equal(ErrorReasons.EventStoreUnavailable, BillingClient.Reason(e));
        Assert.Equal(4, _backend.Commands.Count);
    }

    [Fact]
    public async Task A_bad_request_is_not_retried()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var e = await Assert.ThrowsAsync<RpcException>(() => ReadAsync(client, new ListStatementRequest()));
        Assert.Equal(StatusCode.InvalidArgument, e.StatusCode);
        Assert.Equal(0, client.Retried);
    }

    [Fact]
    public async Task A_statement_can_be_read_twice_and_left_before_its_end()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = Client(proxy);
        var statement = client.StreamStatementAsync(Request());
        for (var i = 0; i < 2; i++)
        {
            await foreach (var page in statement)
            {
                Assert.Equal(1, page.Entries[0].Version);
                break;
            }
        }
    }

    [Fact]
    public async Task A_credit_limit_that_a_proxy_could_not_set_is_set_through_the_next()
    {
        _failures = 1;
        _backend.Answer = command => Task.FromResult(_failures-- > 0
            ? Replies.Error(0, StatusCode.Unavailable, ErrorReasons.BrokerUnavailable, "the broker is down")
            : new Reply
            {
                CreditLimit = new SetCreditLimitResponse { TransactionId = command.TransactionId, Version = 7 },
            });
        await using var proxy = await ProxyHost.StartAsync(_backend);
        using var client = new BillingAdminClient(Options(proxy));
        var response = await client.SetCreditLimitAsync(new SetCreditLimitRequest
        {
            TransactionId = Samples.TransactionId,
            AccountId = "acct-42",
            PaymentType = PaymentType.Visa,
            Limit = Samples.Dollars(500),
        });
        Assert.Equal(7, response.Version);
        Assert.Equal([Samples.TransactionId, Samples.TransactionId], _backend.Commands.Select(c => c.TransactionId));
    }

    private static BillingClient Client(params ProxyHost[] proxies) => new(Options(proxies));

    private static BillingClientOptions Options(params ProxyHost[] proxies)
    {
        var options = new BillingClientOptions { RetriesMax = 3, RetryDelay = TimeSpan.FromMilliseconds(1) };
        foreach (var proxy in proxies)
        {
            options.Proxies.Add(proxy.Address);
        }
        return options;
    }

    private static ListStatementRequest Request() => new() { AccountId = "acct-42", PaymentType = PaymentType.Visa };

    private static IEnumerable<long> Versions(int first, int last) =>
        Enumerable.Range(first, last - first + 1).Select(version => (long)version);

    private static StatementPage Page(StatementPageRequest request, string transactionId = "")
    {
        var last = Math.Min(1_200, request.AfterVersion + request.Limit);
        var page = new StatementPage { HasMore = last < 1_200 };
        for (var version = request.AfterVersion + 1; version <= last; version++)
        {
            page.Entries.Add(new StatementEntry { Version = version, TransactionId = transactionId });
        }
        return page;
    }

    private static async Task<List<long>> ReadAsync(BillingClient client, ListStatementRequest request)
    {
        var versions = new List<long>();
        await foreach (var page in client.StreamStatementAsync(request))
        {
            versions.AddRange(page.Entries.Select(entry => entry.Version));
        }
        return versions;
    }
}
