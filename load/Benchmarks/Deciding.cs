using BenchmarkDotNet.Attributes;
using Billing.Backends.Domain;

namespace Billing.Benchmarks;

/// <summary>The pure domain logic: decides a payment against an account.</summary>
public class Deciding
{
    private readonly Account _account = new(12, 500, 10_000, "USD");
    private readonly Payment _payment = new(Guid.NewGuid(), 12.34m, "USD");
    private readonly DateTimeOffset _now = DateTimeOffset.UnixEpoch;

    [Benchmark]
    public Account DecideAndApply() => _account.Apply(_payment.Decide(_account, _now));
}
