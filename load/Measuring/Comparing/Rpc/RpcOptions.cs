namespace Billing.Measuring.Comparing.Rpc;

/// <summary>The configurations to compare, and the number of runs.</summary>
/// <param name="Threads">Concurrent callers, ascending.</param>
/// <param name="Requests">Requests of each caller, ascending.</param>
/// <param name="Runs">Runs of each side in each configuration, of which the first is dropped.</param>
/// <param name="Connections">Connections of the protocols that multiplex calls.</param>
/// <param name="WarmUp">Requests of each of a hundred callers before a server is measured. The runtime recompiles frequently
/// called methods with more optimisation, which must not slow down the first configuration.</param>
internal sealed record RpcOptions(IReadOnlyList<int> Threads, IReadOnlyList<int> Requests, int Runs, int Connections = 1, int WarmUp = 300)
{
    /// <summary>The paper's range, from 10 to 990 callers and 10 to 900 requests, in few steps: some millions of calls for each
    /// side.</summary>
    public static RpcOptions Default { get; } = new([10, 110, 490, 990], [10, 100, 900], Runs: 5);

    /// <summary>The paper's grid: 10 to 990 callers in steps of 100, 10 to 900 requests in steps of 200, ten runs.</summary>
    public static RpcOptions Full { get; } = new([10, 110, 210, 310, 410, 510, 610, 710, 810, 910, 990], [10, 210, 410, 610, 810, 900], Runs: 10);

    /// <summary>For a first impression.</summary>
    public static RpcOptions Quick { get; } = new([10, 110, 510], [10, 210], Runs: 4);

    /// <summary>The conditions under which all configurations are measured.</summary>
    public RpcConditions Conditions => new(Connections);

    /// <summary>The configuration that is also measured under other conditions: the most callers, each with a medium number of
    /// requests.</summary>
    public (int Threads, int Requests) VariedCell => (Threads[^1], Requests[Requests.Count / 2]);

    /// <summary>Number of calls in all runs of one side.</summary>
    public long CallsOfSide =>
        ((Threads.Sum(t => (long)t) * Requests.Sum(r => (long)r)) + (Conditions.Others().Count * (long)VariedCell.Threads * VariedCell.Requests)) * Runs;
}
