using BenchmarkDotNet.Attributes;
using Billing.Messaging;
using Billing.Wire.V1;

namespace Billing.Benchmarks;

/// <summary>The proxy's table of pending calls.</summary>
public class PendingTable : IDisposable
{
    private readonly PendingReplies _pending = new(TimeProvider.System);
    private readonly Command _command = Payments.Command();

    /// <summary>Number of other calls that are pending all the time.</summary>
    [Params(0, 10_000)]
    public int Others { get; set; }

    /// <summary>Registers the other calls.</summary>
    [GlobalSetup]
    public void Setup()
    {
        for (var i = 0; i < Others; i++)
        {
            _ = _pending.Register(new Command());
        }
    }

    /// <summary>Registers, answers and awaits a call.</summary>
    [Benchmark]
    public async Task<Reply> EnterAndComplete()
    {
        _command.DeadlineUnixUs = 0;
        var waiting = _pending.Register(_command);
        _pending.Complete(new Reply { CorrelationId = _command.CorrelationId });
        return await waiting;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _pending.Dispose();
        GC.SuppressFinalize(this);
    }
}
