using System.Globalization;
using Billing.Auditing;
using Billing.Client.Load;
using Billing.LocalStack;
using Billing.Measuring.Bursts;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Comparing.Paper;

/// <summary>What to repeat of the prototype's experiment.</summary>
internal sealed record PaperComparisonOptions
{
    /// <summary>The stack; backends and jitter are the comparison's.</summary>
    public required StackOptions Stack { get; init; }

    /// <summary>Requests of each of the three clients, in turn.</summary>
    public required IReadOnlyList<int> Requests { get; init; }

    /// <summary>Rounds that count; one more is run before and dropped.</summary>
    public required int Rounds { get; init; }

    /// <summary>Payments that each client sends before each burst, unmeasured.</summary>
    public required int WarmUp { get; init; }
}

/// <summary>The billing prototype's two tables, made again: three clients send all their payments at once, on one and on three
/// backends, without and with jitter.</summary>
internal sealed class PaperComparison(PaperComparisonOptions options, Measurement measurement, IAnsiConsole console)
{
    private const int Clients = 3;
    private static readonly int[] Backends = [1, 3];

    private readonly List<PaperCase> _cases = [];
    private readonly List<AuditCounts> _audits = [];
    private string _transport = "";
    private long _answered;

    /// <summary>Measures, prints and writes.</summary>
    /// <returns>0 when every request was answered and the books are clean; 130 when it was stopped.</returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        measurement.RunAsync(PaperReport.Format, MeasureAsync, Report, cancellationToken);

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        foreach (var jitter in new[] { false, true })
        {
            foreach (var backends in Backends)
            {
                await MeasureAsync(backends, jitter, cancellationToken);
            }
        }
    }

    private async Task MeasureAsync(int backends, bool jitter, CancellationToken cancellationToken)
    {
        await using var stack = await Starting.StackAsync(
            options.Stack with { PaymentBackends = backends, BalanceBackends = backends, Jitter = jitter }, console, cancellationToken);
        _transport = stack.Transport;
        var rounds = options.Requests.ToDictionary(requests => requests, _ => new List<PaperRound>());
        var journals = new List<string>();
        _answered = 0;
        _cases.AddRange(options.Requests.Select(requests =>
            new PaperCase(backends, jitter, requests, PaperFigures.Of(requests, backends, jitter), rounds[requests])));
        await Repeats.RunAsync(
            options.Requests, options.Rounds,
            (requests, round) => BurstAsync(stack, requests, round, journals, cancellationToken),
            (requests, measured) =>
            {
                rounds[requests].Add(measured);
                Say(backends, jitter, requests, measured);
            },
            cancellationToken);
        var audit = await new Auditor(stack.ConnectionString).RunAsync(journals, cancellationToken);
        _audits.Add(AuditCounts.Of(audit, AnswerCount.Differences(audit, _answered, balances: 0).Count));
    }

    private async Task<PaperRound> BurstAsync(
        BillingStack stack, int requests, int round, List<string> journals, CancellationToken cancellationToken)
    {
        var load = new LoadOptions { Proxies = stack.ProxyAddresses, Requests = requests, WarmUp = options.WarmUp };
        var name = string.Create(CultureInfo.InvariantCulture, $"burst-{requests}-{round}");
        var burst = await Burst.RunAsync(load, Clients, stack.Folder, name, cancellationToken);
        journals.AddRange(burst.Journals);
        _answered += burst.Answered;
        var payments = burst.Payments;
        return new PaperRound(payments.Shortest, payments.Longest, payments.Average, burst.TotalS, payments.Errors);
    }

    private void Say(int backends, bool jitter, int requests, PaperRound round) => console.WriteLine(string.Create(CultureInfo.InvariantCulture,
        $"{Clients} x {requests:N0}, {Numbers.Counted(backends, "backend")}, jitter {(jitter ? "on" : "off")}: {round.Shortest:0.00} / {round.Longest:0.00} / {round.Average:0.00} s, total {round.Total:0.00} s, failed {round.Errors}"));

    private PaperReport Report(RunInfo run) => new()
    {
        Run = run,
        Transport = _transport,
        Clients = Clients,
        Proxies = options.Stack.Proxies,
        Brokers = options.Stack.Brokers,
        WarmUp = options.WarmUp,
        Rounds = options.Rounds,
        Cases = _cases,
        Audits = _audits,
    };
}
