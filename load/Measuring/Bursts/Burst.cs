using Billing.LoadClient;
using Billing.LocalStack.Processes;

namespace Billing.Measuring.Bursts;

/// <summary>A burst as in the prototype's experiment: the clients warm up independently and then send all their payments at the
/// same time.</summary>
/// <param name="Payments">The latencies measured by all clients, each counted from its call.</param>
/// <param name="SinceStart">The same latencies, counted from the start of the burst, at which all payments were due.</param>
/// <param name="TotalS">Seconds from the start of the first client to the end of the last.</param>
/// <param name="Journals">The clients' journals.</param>
/// <param name="Answered">Number of payments answered, warm-up included; the journals hold as many.</param>
internal sealed record Burst(Summary Payments, Summary SinceStart, double TotalS, IReadOnlyList<string> Journals, long Answered)
{
    /// <param name="load">The load of each client.</param>
    /// <param name="clients">Number of clients.</param>
    /// <param name="folder">The folder for their journals.</param>
    /// <param name="name">A name that distinguishes this burst's files from those of other bursts.</param>
    /// <param name="cancellationToken">Cancels the burst; the clients are killed.</param>
    public static async Task<Burst> RunAsync(
        LoadOptions load, int clients, StackFolder folder, string name, CancellationToken cancellationToken)
    {
        await using var fleet = ClientFleet.Start(load, clients, folder, name);
        await fleet.WaitUntilReadyAsync(cancellationToken);
        var results = await fleet.RunAsync(cancellationToken);
        return new Burst(
            Summary.Of([.. results.Select(r => r.Payments)]), Summary.SinceStart(results, r => r.Payments), Summary.SpanS(results),
            fleet.Journals, results.Sum(r => r.PaymentsAnswered));
    }
}
