using System.Diagnostics.Metrics;
using Billing.Client;
using Billing.V1;
using Grpc.Core;

namespace Billing.UnitTests.Client.Sdk;

public sealed class RetryBudgetTests
{
    [Fact]
    public void Calls_earn_their_share_and_no_more_than_the_reserve()
    {
        var budget = new RetryBudget(0.25, 2);
        Assert.Equal([true, true, false], Spend(budget, 3));

        for (var call = 0; call < 3; call++)
        {
            budget.Earn();
        }
        Assert.Equal([false], Spend(budget, 1));
        budget.Earn();
        Assert.Equal([true, false], Spend(budget, 2));

        for (var call = 0; call < 100; call++)
        {
            budget.Earn();
        }
        Assert.Equal([true, true, false], Spend(budget, 3));
    }

    [Fact]
    public void Without_a_share_there_is_no_bound() =>
        Assert.All(Spend(new RetryBudget(null, 1), 100), Assert.True);

    [Fact]
    public void Retries_taken_at_the_same_time_are_as_many_as_there_were()
    {
        var budget = new RetryBudget(0, 1_000);
        var taken = 0;

        Parallel.For(0, 4_000, _ => Interlocked.Add(ref taken, budget.TrySpend() ? 1 : 0));

        Assert.Equal(1_000, taken);
    }

    [Fact]
    public async Task A_platform_that_is_overrun_is_sent_little_more_than_the_calls_that_are_made()
    {
        await using var proxy = await ScriptedProxy.StartAsync(
            [.. Enumerable.Range(0, 1_000).Select(_ => ScriptedProxy.Failure(StatusCode.ResourceExhausted, pushback: "0"))]);
        using var client = new BillingClient(new BillingClientOptions
        {
            Proxies = { proxy.Address },
            RetryShare = 0.2,
            RetryReserve = 1,
        });
        var refused = 0L;
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (instrument.Name == "billing.client.retries.refused")
                {
                    self.EnableMeasurementEvents(instrument);
                }
            },
        };
        listener.SetMeasurementEventCallback<long>((_, count, _, _) => Interlocked.Add(ref refused, count));
        listener.Start();

        for (var call = 0; call < 50; call++)
        {
            var result = await client.PayAsync(new Payment(new CardAccount(PaymentType.Visa, "a"), new Amount(1, "USD")));
            Assert.Equal(TimeSpan.Zero, Assert.IsType<PaymentResult.Unknown>(result).RetryAfter);
        }

        // The one to begin with, which the first call has no need to add to, and a fifth of the other 49.
        Assert.Equal(10, client.Retried);
        Assert.Equal(60, proxy.Requests.Count);
        Assert.True(refused >= 50);
    }

    private static List<bool> Spend(RetryBudget budget, int times) => [.. Enumerable.Range(0, times).Select(_ => budget.TrySpend())];
}
