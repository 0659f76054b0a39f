using Billing.Client;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;

namespace Billing.UnitTests.Client;

/// <summary>Callers whose only thread waits for the client, as that of a window may: nothing of the client needs that
/// thread. That no await does is the rule CA2007, which is an error in src/Client.</summary>
public sealed class ContextTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static readonly CardAccount Account = new(CardNetwork.Visa, "acct-1");

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_call_that_is_retried_ends_while_the_thread_that_made_it_waits(bool hasToken)
    {
        await using var proxy = await ScriptedProxy.StartAsync(Away(), Away());
        using var client = Client(proxy, hasToken);

        var outcome = await OnWaitingThread(
            () => client.PayAsync(new Payment(Account, new Amount(1, "USD"))).GetAwaiter().GetResult());
        var answer = await OnWaitingThread(
            () => new BillingService.BillingServiceClient(client.CallInvoker).MakePayment(Samples.Payment()));

        Assert.Equal(OutcomeStatus.Accepted, outcome.Status);
        Assert.Equal(PaymentOutcome.Accepted, answer.Outcome);
        Assert.Equal(2, client.Retried);
    }

    [Fact]
    public async Task Streams_that_are_continued_end_while_the_thread_that_reads_them_waits()
    {
        await using var proxy = await ScriptedProxy.StartAsync(Away());
        using var client = Client(proxy, hasToken: true);
        var payments = Enumerable.Range(0, 3).Select(_ => new Payment(Account, new Amount(1, "USD"))).ToList();

        var outcomes = await OnWaitingThread(
            () => client.PayAllAsync(payments.ToAsyncEnumerable()).ToBlockingEnumerable().ToList());
        var lines = await OnWaitingThread(() => client.ReadStatementAsync(Account).ToBlockingEnumerable().ToList());

        Assert.Equal(3, outcomes.Count);
        Assert.Single(lines);
    }

    private static RpcException Away() => ScriptedProxy.Failure(StatusCode.Unavailable);

    // Without a token the first attempt begins on the caller's thread.
    private static BillingClient Client(ScriptedProxy proxy, bool hasToken) => new(new BillingClientOptions
    {
        Proxies = { proxy.Address },
        TokenProvider = !hasToken ? null : async token =>
        {
            await Task.Delay(1, token).ConfigureAwait(false);
            return "abc";
        },
    });

    // On a thread of its own, whose context never runs what is posted to it.
    private static Task<T> OnWaitingThread<T>(Func<T> call)
    {
        var ended = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        new Thread(() =>
        {
            SynchronizationContext.SetSynchronizationContext(new Busy());
            try
            {
                ended.SetResult(call());
            }
            catch (Exception e)
            {
                ended.SetException(e);
            }
        })
        { IsBackground = true }.Start();
        return ended.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
    }

    private sealed class Busy : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state)
        {
        }
    }
}
