using Billing.Driver;

namespace Billing.Measuring.Experiments;

/// <summary>What a plain gRPC echo does on this machine now: the figure by which results of different machines, and of different days,
/// can be compared.</summary>
internal static class SittingEcho
{
    private const int Callers = 200;

    /// <summary>Returns the calls per second of one driver and one server, with 200 calls in flight on four connections for two seconds.
    /// </summary>
    public static async Task<double> MeasureAsync(CancellationToken cancellationToken)
    {
        await using var side = await EchoSide.Plan("echo", servers: 1).StartAsync(cancellationToken);
        var load = new LoadSpec
        {
            Addresses = [],
            Protocol = LoadProtocol.Unary,
            Connections = 4,
            WarmUp = new LoadShape.Closed(Callers, 1),
            Shape = new LoadShape.Closed(Callers, 2),
        };
        return (await side.LoadAsync(load, 1, cancellationToken)).PerSecond;
    }
}
