using Billing.Auditing;
using Billing.Chaos;
using Billing.LocalStack;

namespace Billing.ChaosTests;

/// <summary>Payments that continue during a failure, with an audit at the end that each of them
/// is recorded once.</summary>
internal sealed class AuditedTraffic : IAsyncDisposable
{
    private readonly StackFixture _stack;
    private readonly string _journal = Path.Combine(Path.GetTempPath(), $"billing-journal-{Guid.NewGuid():N}.csv");
    private readonly Traffic _traffic;

    public AuditedTraffic(StackFixture stack, params IReadOnlyList<string> proxies)
    {
        _stack = stack;
        _traffic = new Traffic(
            new TrafficOptions
            {
                Proxies = proxies.Count > 0 ? proxies : stack.Stack.ProxyAddresses,
                Journal = _journal,
                Workers = 48,
                Rate = 250,
                AccountPrefix = "chaos-" + Guid.NewGuid().ToString("N")[..8] + "-",
                DuplicatePercent = 10,
                OtherCurrencyPercent = 2,
            },
            TimeProvider.System);
        _traffic.Start();
    }

    /// <summary>Waits until the given number of further payments is answered.</summary>
    public Task WaitForMoreAsync(int count) =>
        _traffic.WaitForMoreAsync(count, Conditions.Patience, CancellationToken.None);

    /// <summary>Stops the payments and asserts that every payment is answered and recorded once.</summary>
    public async Task<TrafficResult> EndCleanAsync()
    {
        var result = await _traffic.StopAsync(Conditions.Patience);
        var auditor = new Auditor([.. _stack.Stack.Databases.Values]) { OpeningLimits = BillingStack.OpeningLimits };
        var audit = await auditor.RunAsync([_journal], CancellationToken.None);
        Assert.Empty(result.Violations);
        Assert.Equal(0, result.Unanswered);
        Assert.Empty(audit.Lost);
        Assert.Empty(audit.Doubled);
        Assert.Empty(audit.Wrong);
        Assert.True(audit.IsClean);
        Assert.Empty(AnswerCount.Differences(audit, result.Payments, result.Balances));
        Assert.Equal(result.Payments, audit.Recorded);
        return result;
    }

    public async ValueTask DisposeAsync()
    {
        await _traffic.DisposeAsync();
        File.Delete(_journal);
    }
}
