using Billing.Hosting;
using Billing.Messaging;
using Billing.Messaging.Embedded;
using Billing.Messaging.Requests;
using Billing.UnitTests.Testing;
using Billing.Wire.V1;

namespace Billing.UnitTests.Messaging.Embedded;

public sealed class EmbeddedTransportTests : IAsyncLifetime
{
    private readonly PendingReplies _pending = new(new ManualTime());
    private readonly List<RecordingHandler> _payments = [];
    private readonly List<RecordingHandler> _balances = [];
    private readonly Supervisor _supervisor = Supervision.New();
    private readonly EmbeddedTransport _transport;

    public EmbeddedTransportTests() => _transport = new EmbeddedTransport(_pending, publisher =>
    {
        _payments.AddRange(Enumerable.Range(0, 4).Select(_ => new RecordingHandler(publisher)));
        _balances.AddRange(Enumerable.Range(0, 2).Select(_ => new RecordingHandler(publisher)));
        return new EmbeddedHandlers(_payments, _balances, []);
    }, "test", _supervisor);

    public async ValueTask InitializeAsync() => await _transport.StartAsync(CancellationToken.None);

    public async ValueTask DisposeAsync()
    {
        await _transport.StopAsync(CancellationToken.None);
        _transport.Dispose();
        _pending.Dispose();
    }

    [Fact]
    public async Task All_commands_of_an_account_reach_one_handler_in_the_order_they_were_sent()
    {
        const int Accounts = 19;
        const int Each = 200;
        var replies = new List<Task<Reply>>();
        for (var n = 1; n <= Each; n++)
        {
            for (var account = 0; account < Accounts; account++)
            {
                replies.Add(_transport.SendAsync(Samples.PaymentRequest($"acct-{account}", n)));
            }
        }
        await Task.WhenAll(replies);
        var shares = _payments.Select(h => h.Accepted.GroupBy(c => c.Payment.AccountId).ToList()).ToList();
        Assert.Equal(Accounts, shares.Sum(share => share.Count));
        foreach (var account in shares.SelectMany(share => share))
        {
            Assert.Equal(Enumerable.Range(1, Each).Select(n => (long)n), account.Select(c => c.Payment.Amount.Units));
        }
    }

    [Fact]
    public async Task Each_caller_gets_the_reply_to_its_own_command()
    {
        var calls = Enumerable.Range(1, 500).Select(n => Task.Run(async () =>
        {
            var reply = await _transport.SendAsync(Samples.PaymentRequest($"acct-{n % 7}", n));
            Assert.Equal(n, reply.Payment.Version);
        }));
        await Task.WhenAll(calls);
        Assert.Equal(0, _pending.Count);
    }

    [Fact]
    public async Task Balance_checks_go_to_the_balance_handlers()
    {
        var reply = await _transport.SendAsync(Request.Of(Samples.BalanceCommand()));
        Assert.NotNull(reply.Balance);
        Assert.Single(_balances.SelectMany(h => h.Accepted));
        Assert.Empty(_payments.SelectMany(h => h.Accepted));
    }

    [Fact]
    public async Task A_command_is_given_a_valid_reply_topic()
    {
        await _transport.SendAsync(Samples.PaymentRequest());
        Assert.True(Topics.IsReplyTopic(Assert.Single(_payments.SelectMany(h => h.Accepted)).ProxyTopic));
    }

    [Fact]
    public async Task A_process_that_another_one_has_replaced_ends_instead_of_answering_nobody()
    {
        _payments.ForEach(handler => handler.Ends = assignment => assignment.Fence(1));
        _ = _transport.SendAsync(Samples.PaymentRequest());
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => Task.Delay(TimeSpan.FromMinutes(5), _supervisor.Failing));
        Assert.False(_supervisor.IsHealthy);
    }

    [Fact]
    public async Task Commands_of_an_assignment_that_starts_over_are_delivered_again_in_their_order()
    {
        var replies = new List<Task<Reply>>();
        foreach (var units in (long[])[1, 2])
        {
            _payments.ForEach(handler => handler.Ends = assignment => assignment.Restart(1));
            replies.AddRange(Enumerable.Range(1, 10)
                .Select(n => _transport.SendAsync(Samples.PaymentRequest("acct-1", (10 * units) + n))));
            await Task.WhenAll(replies);
        }

        var (handler, others) =
            (_payments.Single(h => h.Accepted.Count > 0), _payments.Where(h => h.Accepted.Count == 0));
        Assert.Equal(3, others.Count());
        Assert.Equal(
            Enumerable.Range(11, 20).Select(n => (long)n),
            handler.Accepted.Select(c => c.Payment.Amount.Units).Distinct());
    }

    [Fact]
    public async Task Every_process_gives_an_account_to_the_same_handler_under_the_same_name()
    {
        await Task.WhenAll(
            Enumerable.Range(0, 10).Select(n => _transport.SendAsync(Samples.PaymentRequest($"acct-{n}"))));
        Assert.Equal(
            ["acct-0: test 2", "acct-1: test 1"],
            _payments.SelectMany(h => h.Owned).Where(owned => owned.StartsWith("acct-0", StringComparison.Ordinal)
                || owned.StartsWith("acct-1", StringComparison.Ordinal)).Order());
    }

    [Fact]
    public async Task Handlers_run_from_the_transports_start_to_its_stop()
    {
        Assert.All(_payments.Concat(_balances), handler => Assert.True(handler.IsRunning));
        await _transport.StopAsync(CancellationToken.None);
        Assert.All(_payments.Concat(_balances), handler => Assert.False(handler.IsRunning));
    }
}
