namespace Billing.Measuring.Comparing.Rpc;

/// <summary>What is compared, and how often.</summary>
/// <param name="Threads">Concurrent callers, ascending.</param>
/// <param name="Requests">Requests of each, ascending.</param>
/// <param name="Runs">Runs of each side in each cell, of which the first is dropped.</param>
/// <param name="Connections">Connections of the protocols that put many calls on one.</param>
/// <param name="WarmUp">Requests of each of a hundred callers before a server is measured: the runtime compiles what is called often again,
/// better, and the first cell is not to pay for that.</param>
internal sealed record RpcOptions(IReadOnlyList<int> Threads, IReadOnlyList<int> Requests, int Runs, int Connections = 1, int WarmUp = 300)
{
    /// <summary>The paper's range, from 10 to 990 callers and 10 to 900 requests, in few steps: some millions of calls of each
    /// side.</summary>
    public static RpcOptions Default { get; } = new([10, 110, 490, 990], [10, 100, 900], Runs: 5);

    /// <summary>The paper's grid: 10 to 990 callers in steps of 100, 10 to 900 requests in steps of 200, ten runs.</summary>
    public static RpcOptions Full { get; } = new([10, 110, 210, 310, 410, 510, 610, 710, 810, 910, 990], [10, 210, 410, 610, 810, 900], Runs: 10);

    /// <summary>For a first impression.</summary>
    public static RpcOptions Quick { get; } = new([10, 110, 510], [10, 210], Runs: 4);

    /// <summary>Under which all cells are measured.</summary>
    public RpcConditions Conditions => new(Connections);

    /// <summary>The cell that is measured under other conditions too: the most callers, each with a middling number of requests.</summary>
    public (int Threads, int Requests) VariedCell => (Threads[^1], Requests[Requests.Count / 2]);

    /// <summary>Calls of all runs of one side.</summary>
    public long CallsOfSide =>
        ((Threads.Sum(t => (long)t) * Requests.Sum(r => (long)r)) + (Conditions.Others().Count * (long)VariedCell.Threads * VariedCell.Requests)) * Runs;
}
