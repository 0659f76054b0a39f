using System.Diagnostics.Metrics;
using Billing.Client;
using Grpc.Core;

namespace Billing.UnitTests.Client;

public sealed class RetryBudgetTests
{
    [Fact]
    public void Calls_add_their_share_up_to_the_reserve()
    {
        var budget = new RetryBudget(0.25, 2);
        Assert.Equal([true, true, false], Spend(budget, 3));

        for (var call = 0; call < 3; call++)
        {
            budget.AddShare();
        }
        Assert.Equal([false], Spend(budget, 1));
        budget.AddShare();
        Assert.Equal([true, false], Spend(budget, 2));

        for (var call = 0; call < 100; call++)
        {
            budget.AddShare();
        }
        Assert.Equal([true, true, false], Spend(budget, 3));
    }

    [Fact]
    public void Without_a_share_retries_are_unlimited() =>
        Assert.All(Spend(new RetryBudget(null, 1), 100), Assert.True);

    [Fact]
    public void Concurrent_retries_use_up_the_budget_exactly()
    {
        var budget = new RetryBudget(0, 1_000);
        var spent = 0;

        Parallel.For(0, 4_000, _ => Interlocked.Add(ref spent, budget.TrySpend() ? 1 : 0));

        Assert.Equal(1_000, spent);
    }

    [Fact]
    public async Task An_overloaded_platform_gets_few_retries()
    {
        await using var proxy = await ScriptedProxy.StartAsync(
            [
                .. Enumerable.Range(0, 1_000)
                    .Select(_ => ScriptedProxy.Failure(StatusCode.ResourceExhausted, pushback: "0")),
            ]);
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
            var result = await client.PayAsync(
                new Payment(new CardAccount(CardNetwork.Visa, "a"), new Amount(1, "USD")));
            Assert.Equal(TimeSpan.Zero, Expect.Unknown(result).RetryAfter);
        }

        // The initial reserve of one, to which the first call adds nothing because it is full, and a fifth of
        // the other 49 calls.
        Assert.Equal(10, client.Retried);
        Assert.Equal(60, proxy.Requests.Count);
        Assert.True(refused >= 50);
    }

    private static List<bool> Spend(
        RetryBudget budget, int times) => [.. Enumerable.Range(0, times).Select(_ => budget.TrySpend())];
}
