using Billing.Contracts;
using Billing.Messaging;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy;

public sealed class StatementStreamTests : IAsyncLifetime
{
    private readonly FakeBackend _backend = new();
    private ProxyHost? _proxy;
    private long _events = 1_200;

    public async ValueTask InitializeAsync()
    {
        _backend.Answer = command => Task.FromResult(new Reply { Statement = Page(command.Statement, _events) });
        _proxy = await ProxyHost.StartAsync(_backend);
    }

    public ValueTask DisposeAsync() => _proxy!.DisposeAsync();

    [Fact]
    public async Task All_entries_are_read_in_pages_and_each_page_opens_with_the_closing_state_of_the_one_before()
    {
        var request = Request();
        request.PageSize = 500;
        var entries = await ReadAsync(request);
        Assert.Equal(Enumerable.Range(1, 1_200).Select(n => (long)n), entries.Select(e => e.Version));
        var pages = _backend.Commands.Select(c => c.Statement).ToList();
        Assert.Equal([0L, 500, 1_000], pages.Select(p => p.AfterVersion));
        Assert.Equal([500, 500, 500], pages.Select(p => p.Limit));
        Assert.Null(pages[0].Opening);
        Assert.Equal([State(500), State(1_000)], pages.Skip(1).Select(p => p.Opening));
        Assert.All(_backend.Commands, c => Assert.True(Guid.TryParse(c.TransactionId, out _)));
    }

    [Theory]
    [InlineData(0, 12)]
    [InlineData(1_000, 2)]
    [InlineData(5_000, 2)]
    public async Task A_statement_has_pages_of_the_size_that_is_asked_for(int size, int pages)
    {
        var request = Request();
        request.PageSize = size;
        Assert.Equal(1_200, (await ReadAsync(request)).Count);
        Assert.Equal(pages, _backend.Commands.Count);
    }

    [Fact]
    public async Task A_stream_that_broke_is_continued_with_the_token_of_its_last_page()
    {
        var request = Request();
        using (var call = _proxy!.Client.StreamStatement(request))
        {
            Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
            request.PageToken = call.ResponseStream.Current.NextPageToken;
        }
        Assert.Equal(
            Enumerable.Range(101, 1_100).Select(n => (long)n), (await ReadAsync(request)).Select(e => e.Version));
    }

    [Fact]
    public async Task Of_a_statement_of_some_types_each_page_goes_on_after_what_is_known()
    {
        var pages = new Queue<StatementPage>(
            [
                new StatementPage { HasMore = true, ReadTo = 70, Closing = State(60) },
                new StatementPage { HasMore = true, ReadTo = 90 }, new StatementPage { ReadTo = 95 },
            ]);
        _backend.Answer = _ => Task.FromResult(new Reply { Statement = pages.Dequeue() });
        var request = Request();
        request.Types_.Add(StatementEntryType.PaymentRefunded);
        Assert.Empty(await ReadAsync(request));
        Assert.Equal([0L, 70, 90], _backend.Commands.Select(c => c.Statement.AfterVersion));
        Assert.All(_backend.Commands, c => Assert.Equal([StatementEntryType.PaymentRefunded], c.Statement.Types_));
    }

    [Fact]
    public async Task Entries_up_to_the_given_version_are_left_out()
    {
        var request = Request();
        request.AfterVersion = 1_190;
        Assert.Equal(1_191, (await ReadAsync(request))[0].Version);
    }

    [Fact]
    public async Task An_account_without_events_has_an_empty_statement()
    {
        _events = 0;
        Assert.Empty(await ReadAsync(Request()));
    }

    [Fact]
    public async Task An_invalid_field_is_refused_by_name()
    {
        var request = Request();
        request.PageSize = -1;
        var e = await Assert.ThrowsAsync<RpcException>(() => ReadAsync(request));
        Assert.Equal(StatusCode.InvalidArgument, e.StatusCode);
        Assert.Equal("page_size", e.Field());
        Assert.Empty(_backend.Commands);
    }

    [Fact]
    public async Task A_failed_page_ends_the_statement_with_the_backends_error_after_the_earlier_pages()
    {
        _backend.Answer = command => Task.FromResult(command.Statement.AfterVersion == 0
            ? new Reply { Statement = Page(command.Statement, _events) }
            : Replies.Error(0, StatusCode.Unavailable, ErrorReasons.EventStoreUnavailable, "unavailable"));
        using var call = _proxy!.Client.StreamStatement(Request());
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        var e = await Assert.ThrowsAsync<RpcException>(() => call.ResponseStream.MoveNext(CancellationToken.None));
        Assert.Equal(StatusCode.Unavailable, e.StatusCode);
        Assert.Equal(ErrorReasons.EventStoreUnavailable, e.Reason());
        Assert.Equal(0, _proxy.Admission.InFlight);
    }

    [Fact]
    public async Task An_empty_page_that_announces_more_entries_ends_the_statement_with_an_error()
    {
        _backend.Answer = _ => Task.FromResult(new Reply { Statement = new StatementPage { HasMore = true } });
        var e = await Assert.ThrowsAsync<RpcException>(() => ReadAsync(Request()));
        Assert.Equal(StatusCode.Internal, e.StatusCode);
        Assert.Single(_backend.Commands);
    }

    [Fact]
    public async Task A_stopping_proxy_ends_the_statement_between_two_pages()
    {
        var stopping = Task.CompletedTask;
        _backend.Answer = async command =>
        {
            stopping = _proxy!.StopAsync();
            await _proxy.WaitForClosingAsync();
            return new Reply { Statement = Page(command.Statement, _events) };
        };
        using var call = _proxy!.Client.StreamStatement(Request());
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        var e = await Assert.ThrowsAsync<RpcException>(() => call.ResponseStream.MoveNext(CancellationToken.None));
        await stopping;
        Assert.Equal(ErrorReasons.ShuttingDown, e.Reason());
        Assert.Single(_backend.Commands);
    }

    private static ListStatementRequest Request() => new() { AccountId = "acct-42", PaymentType = PaymentType.Visa };

    private static StatementPage Page(StatementPageRequest request, long events)
    {
        var last = Math.Min(events, request.AfterVersion + request.Limit);
        var page = new StatementPage { HasMore = last < events, Closing = State(last) };
        for (var version = request.AfterVersion + 1; version <= last; version++)
        {
            page.Entries.Add(new StatementEntry { Version = version, Balance = Samples.Dollars(version) });
        }
        return page;
    }

    private static AccountState State(long version) =>
        new() { Version = version, Balance = Samples.Dollars(version), CreditLimit = Samples.Dollars(10_000) };

    private async Task<List<StatementEntry>> ReadAsync(ListStatementRequest request)
    {
        using var call = _proxy!.Client.StreamStatement(request);
        var entries = new List<StatementEntry>();
        while (await call.ResponseStream.MoveNext(CancellationToken.None))
        {
            entries.AddRange(call.ResponseStream.Current.Entries);
        }
        return entries;
    }
}
