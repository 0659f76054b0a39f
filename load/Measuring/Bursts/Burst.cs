using Billing.Client.Load;
using Billing.LocalStack.Processes;

namespace Billing.Measuring.Bursts;

/// <summary>Clients of the prototype's kind that warm up on their own and then send all their payments at once, together.
/// </summary>
/// <param name="Payments">What all clients measured, each answer timed from its call.</param>
/// <param name="SinceStart">The same answers, timed from when the first client began: all payments were meant for that moment.</param>
/// <param name="TotalS">Seconds from the first client's start to the last one's end.</param>
/// <param name="Journals">The files with what was acknowledged.</param>
/// <param name="Answered">Payments answered, those of the warm-up included: as many as the journals hold.</param>
internal sealed record Burst(Summary Payments, Summary SinceStart, double TotalS, IReadOnlyList<string> Journals, long Answered)
{
    /// <param name="load">What each client does.</param>
    /// <param name="clients">How many.</param>
    /// <param name="folder">Where their journals go.</param>
    /// <param name="name">Tells this burst's files from another's.</param>
    /// <param name="cancellationToken">Ends it; the clients are killed.</param>
    public static async Task<Burst> RunAsync(
        LoadOptions load, int clients, StackFolder folder, string name, CancellationToken cancellationToken)
    {
        await using var fleet = ClientFleet.Start(load, clients, folder, name);
        await fleet.WaitUntilReadyAsync(cancellationToken);
        var results = await fleet.RunAsync(cancellationToken);
        return new Burst(
            Summary.Of([.. results.Select(r => r.Payments)]), LoadResult.SinceStart(results, r => r.Payments), LoadResult.SpanS(results),
            fleet.Journals, results.Sum(r => r.PaymentsAnswered));
    }
}
