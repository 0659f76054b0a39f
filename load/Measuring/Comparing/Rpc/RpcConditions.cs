using Billing.Reporting;

namespace Billing.Measuring.Comparing.Rpc;

/// <summary>The conditions of a measurement that affect the sides differently, as JSON; the names are part of the interface.
/// </summary>
/// <param name="Connections">Connections of rpcx and of grpc each, shared by the callers. A single connection favours RPCX, which
/// writes all pending messages of a connection together.</param>
/// <param name="PoolDispatch">Whether the RPCX server answers on the thread pool, as those of gRPC and REST do, not on the thread
/// that reads the connection.</param>
/// <param name="DefaultRuntime">Whether the servers run with .NET's default runtime settings instead of the platform's. The
/// client process always has the platform's.</param>
internal sealed record RpcConditions(int Connections, bool PoolDispatch = false, bool DefaultRuntime = false)
{
    // Enough to remove the advantage of a single connection, and few for hundreds of callers.
    private const int ManyConnections = 8;

    /// <summary>The other conditions to measure: without each condition that favours RPCX, and without all of them.</summary>
    public IReadOnlyList<RpcConditions> Others() =>
    [
        .. new[]
        {
            this with { Connections = Math.Max(ManyConnections, Connections) },
            this with { PoolDispatch = true },
            this with { DefaultRuntime = true },
            new RpcConditions(Math.Max(ManyConnections, Connections), PoolDispatch: true, DefaultRuntime: true),
        }.Distinct().Where(other => other != this),
    ];

    /// <inheritdoc/>
    public override string ToString() =>
        $"{Numbers.Counted(Connections, "connection")}, RPCX answering on {(PoolDispatch ? "the thread pool" : "the reading thread")}, servers with {(DefaultRuntime ? ".NET's default" : "the platform's")} runtime settings";
}

/// <summary>One configuration, measured under other conditions.</summary>
internal sealed record RpcVariant(RpcConditions Conditions, RpcCell Cell);
