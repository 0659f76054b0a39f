using BenchmarkDotNet.Attributes;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;

namespace Billing.Benchmarks;

/// <summary>The proxy's table of pending calls.</summary>
public class PendingTable : IDisposable
{
    private readonly PendingReplies _pending = new(TimeProvider.System);
    private readonly Request _request = Request.Of(Payments.Command()) with { DeadlineUnixUs = 0 };

    /// <summary>Number of other calls that are pending all the time.</summary>
    [Params(0, 10_000)]
    public int Others { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        for (var i = 0; i < Others; i++)
        {
            _ = _pending.Register(_request);
        }
    }

    [Benchmark]
    public async Task<Reply> EnterAndComplete()
    {
        var (id, waiting) = _pending.Register(_request);
        _pending.Complete(new Reply { CorrelationId = id });
        return await waiting;
    }

    public void Dispose()
    {
        _pending.Dispose();
        GC.SuppressFinalize(this);
    }
}
