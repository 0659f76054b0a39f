using Billing.Client;
using Billing.V1;

namespace Billing.ChaosTests;

/// <summary>Failures during many calls at once.</summary>
public abstract class Bursts(StackFixture stack) : StackFailures(stack)
{
    private const int Payments = 200;

    private readonly string _prefix = StackFixture.NewAccount();

    protected static BillingClient Client(params string[] proxies)
    {
        var options = new BillingClientOptions { Deadline = TimeSpan.FromSeconds(60) };
        Array.ForEach(proxies, options.Proxies.Add);
        return new BillingClient(options);
    }

    protected List<Task<MakePaymentResponse>> Burst(BillingClient client) =>
        [.. Enumerable.Range(0, Payments).Select(i => client.MakePaymentAsync(StackFixture.Payment($"{_prefix}-{i}")))];

    protected async Task AllArePaidOnceAsync(List<Task<MakePaymentResponse>> paying)
    {
        Assert.All(await Task.WhenAll(paying), answer => Assert.Equal(PaymentOutcome.Accepted, answer.Outcome));
        Assert.Equal(paying.Count, await Fixture.CountEventsAsync(_prefix + "-%"));
    }
}
