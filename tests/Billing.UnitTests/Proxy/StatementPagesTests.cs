using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;

namespace Billing.UnitTests.Proxy;

public sealed class StatementPagesTests : IAsyncLifetime
{
    private readonly FakeBackend _backend = new();
    private ProxyHost? _proxy;

    public async ValueTask InitializeAsync()
    {
        _backend.Answer = command => Task.FromResult(new Reply
        {
            Statement = new StatementPage
            {
                Entries =
                {
                    new StatementEntry
                    {
                        Version = command.Statement.AfterVersion + 1,
                        Type = StatementEntryType.PaymentAccepted,
                        DecideTime = new Timestamp { Seconds = 5 },
                    },
                },
                HasMore = true,
                ReadTo = command.Statement.AfterVersion + 7,
            },
        });
        _proxy = await ProxyHost.StartAsync(_backend);
    }

    public ValueTask DisposeAsync() => _proxy!.DisposeAsync();

    [Theory]
    [InlineData(0, 100)]
    [InlineData(1, 1)]
    [InlineData(1000, 1000)]
    [InlineData(1001, 1000)]
    [InlineData(int.MaxValue, 1000)]
    public async Task A_page_has_as_many_entries_as_its_request_says_or_the_default_or_the_most(int size, int limit)
    {
        var request = Request();
        request.PageSize = size;
        await ListAsync(request);
        Assert.Equal(limit, Assert.Single(_backend.Commands).Statement.Limit);
    }

    [Fact]
    public async Task A_page_of_some_events_goes_on_after_what_was_read_for_the_one_before_and_its_size_may_be_another()
    {
        var request = Request();
        request.StartTime = new Timestamp { Seconds = 5 };
        request.EndTime = new Timestamp { Seconds = 5, Nanos = 1 };
        request.Types_.Add([StatementEntryType.PaymentDeclined, StatementEntryType.PaymentAccepted]);
        request.PageToken = (await ListAsync(request)).NextPageToken;
        // The same types.
        request.Types_.Clear();
        request.Types_.Add([StatementEntryType.PaymentAccepted, StatementEntryType.PaymentDeclined]);
        request.PageSize = 3;
        request.PageToken = (await ListAsync(request)).NextPageToken;
        await ListAsync(request);

        Assert.Equal([0L, 7, 14], _backend.Commands.Select(command => command.Statement.AfterVersion));
        Assert.All(_backend.Commands, command => Assert.Equal(
            (request.StartTime, request.EndTime, 2),
            (command.Statement.StartTime, command.Statement.EndTime, command.Statement.Types_.Count)));
    }

    [Fact]
    public async Task A_token_that_is_altered_anywhere_or_of_another_request_is_refused()
    {
        var request = Request();
        var token = (await ListAsync(request)).NextPageToken;
        var altered = Enumerable.Range(0, token.Length)
            .Select(i => string.Concat(token.AsSpan(0, i), token[i] == 'A' ? "B" : "A", token.AsSpan(i + 1)));
        foreach (var other in altered.Concat(
            [token + "A", token[..^1], "A", new string('A', token.Length), "%", "\u20AC"]))
        {
            request.PageToken = other;
            await RefusedAsync(request, "page_token");
        }
        request.PageToken = token;
        await ListAsync(request);
        foreach (var alter in (Action<ListStatementRequest>[])
            [
                r => r.AccountId = "b", r => r.PaymentType = PaymentType.Amex, r => r.StartTime = new Timestamp(),
                r => r.EndTime = new Timestamp { Seconds = 9 },
                r => r.Types_.Add(StatementEntryType.PaymentAccepted), r => r.AfterVersion = 1,
            ])
        {
            var other = request.Clone();
            alter(other);
            await RefusedAsync(other, "page_token");
        }
        Assert.Equal(2, _backend.Commands.Count);
    }

    [Fact]
    public async Task A_page_with_what_was_not_asked_for_or_one_that_gets_nowhere_is_no_answer()
    {
        var request = Request();
        request.Types_.Add(StatementEntryType.PaymentDeclined);
        await RefusedAsync(request, null, StatusCode.Internal);
        request.Types_.Clear();
        request.EndTime = new Timestamp { Seconds = 5 };
        await RefusedAsync(request, null, StatusCode.Internal);
        _backend.Answer = _ => Task.FromResult(
            new Reply { Statement = new StatementPage { Entries = { new StatementEntry { Version = 1 } } } });
        await RefusedAsync(request, null, StatusCode.Internal);
        _backend.Answer = _ => Task.FromResult(new Reply { Statement = new StatementPage { HasMore = true } });
        await RefusedAsync(request, null, StatusCode.Internal);
        await RefusedAsync(Request(), null, StatusCode.Internal);
    }

    [Fact]
    public async Task A_field_that_breaks_a_rule_is_named()
    {
        foreach (var (field, alter) in ((string, Action<ListStatementRequest>)[])
            [
                ("account_id", r => r.AccountId = ""), ("payment_type", r => r.PaymentType = 0),
                ("page_size", r => r.PageSize = -1), ("after_version", r => r.AfterVersion = -1),
                ("start_time", r => r.StartTime = new Timestamp { Seconds = long.MaxValue }),
                ("end_time", r => r.EndTime = new Timestamp { Nanos = -1 }),
                ("end_time", r => (r.StartTime, r.EndTime) =
                    (new Timestamp { Seconds = 5, Nanos = 1 }, new Timestamp { Seconds = 5 })),
                ("types", r => r.Types_.Add((StatementEntryType)77)),
                ("types", r => r.Types_.Add([StatementEntryType.PaymentAccepted, StatementEntryType.PaymentAccepted])),
            ])
        {
            var request = Request();
            alter(request);
            await RefusedAsync(request, field);
        }
        foreach (var (field, past) in ((string, GetBalanceAtRequest)[])
            [
                ("version", new() { AccountId = "a", PaymentType = PaymentType.Visa }),
                ("version", new() { AccountId = "a", PaymentType = PaymentType.Visa, Version = -1 }),
                ("time", new()
                {
                    AccountId = "a",
                    PaymentType = PaymentType.Visa,
                    Time = new Timestamp { Seconds = -62_135_596_801 },
                }),
                ("account_id", new() { PaymentType = PaymentType.Visa, Version = 1 }),
            ])
        {
            var failure = await Assert.ThrowsAsync<RpcException>(
                () => _proxy!.Client.GetBalanceAtAsync(past).ResponseAsync);
            Assert.Equal((StatusCode.InvalidArgument, field), (failure.StatusCode, failure.Field()));
        }
        Assert.Empty(_backend.Commands);
    }

    private static ListStatementRequest Request() => new() { AccountId = "acct-42", PaymentType = PaymentType.Visa };

    private Task<ListStatementResponse> ListAsync(ListStatementRequest request) =>
        _proxy!.Client.ListStatementAsync(request).ResponseAsync;

    private async Task RefusedAsync(
        ListStatementRequest request, string? field, StatusCode status = StatusCode.InvalidArgument)
    {
        var failure = await Assert.ThrowsAsync<RpcException>(() => ListAsync(request));
        Assert.Equal((status, field), (failure.StatusCode, failure.Field()));
    }
}
