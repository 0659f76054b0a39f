using Billing.Reporting;

namespace Billing.Measuring.Comparing.Rpc;

/// <summary>What the comparison leaves open and the sides differ in, as JSON; the names are part of the interface.</summary>
/// <param name="Connections">Connections of rpcx and of grpc each, shared by the callers. One favours RPCX, which writes what has
/// piled up on it together.</param>
/// <param name="PoolDispatch">Whether the RPCX server answers on the thread pool, as gRPC's and REST's do, instead of on the thread that
/// reads the connection.</param>
/// <param name="DefaultRuntime">Whether the servers run with .NET's own settings instead of this platform's. The caller's process
/// always has the platform's.</param>
internal sealed record RpcConditions(int Connections, bool PoolDispatch = false, bool DefaultRuntime = false)
{
    // Enough to take away what one connection brings, and few for hundreds of callers.
    private const int More = 8;

    /// <summary>What is measured beside these: each condition that favours RPCX taken away, and all of them.</summary>
    public IReadOnlyList<RpcConditions> Others() =>
    [
        .. new[]
        {
            this with { Connections = Math.Max(More, Connections) },
            this with { PoolDispatch = true },
            this with { DefaultRuntime = true },
            new RpcConditions(Math.Max(More, Connections), PoolDispatch: true, DefaultRuntime: true),
        }.Distinct().Where(other => other != this),
    ];

    /// <inheritdoc/>
    public override string ToString() =>
        $"{Numbers.Counted(Connections, "connection")}, RPCX answering on {(PoolDispatch ? "the thread pool" : "the reading thread")}, servers with {(DefaultRuntime ? ".NET's own" : "the platform's")} runtime settings";
}

/// <summary>One cell, measured under other conditions.</summary>
internal sealed record RpcVariant(RpcConditions Conditions, RpcCell Cell);
