using System.Globalization;
using Billing.Auditing;
using Billing.LoadClient;
using Billing.LocalStack;
using Billing.Measuring.Bursts;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Comparing.Paper;

/// <summary>Repeats the measurements of the billing prototype's two tables: three clients send all their payments at once, with
/// one and with three backends, without and with jitter.</summary>
internal sealed class PaperComparison(PaperOptions options, Measurement measurement, IAnsiConsole console)
{
    private const int Clients = 3;
    private static readonly int[] Backends = [1, 3];

    private readonly List<PaperCase> _cases = [];
    private readonly List<AuditCounts> _audits = [];
    private string _transport = "";

    /// <summary>Measures, prints the figures and writes the results.</summary>
    /// <returns>0 if every request was answered and the audits are clean; 130 if it was stopped.</returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        measurement.RunAsync(PaperResult.Format, MeasureAsync, Result, cancellationToken);

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        foreach (var jitter in new[] { false, true })
        {
            await MeasureAsync(jitter, cancellationToken);
        }
    }

    // One stack for each number of backends. Both run all the time, so that a machine that becomes slower favours neither.
    private async Task MeasureAsync(bool jitter, CancellationToken cancellationToken)
    {
        await using var one = await StartAsync(Backends[0], jitter, cancellationToken);
        await using var three = await StartAsync(Backends[1], jitter, cancellationToken);
        Shape[] shapes = [.. from requests in options.Requests from side in new[] { one, three } select new Shape(side, requests)];
        var rounds = shapes.ToDictionary(shape => shape, _ => new List<PaperRound>());
        _cases.AddRange(shapes.OrderBy(shape => shape.Side.Backends).Select(shape => new PaperCase(
            shape.Side.Backends, jitter, shape.Requests, PaperFigures.Of(shape.Requests, shape.Side.Backends, jitter), rounds[shape])));
        await Repeats.RunAsync(
            shapes, options.Rounds,
            (shape, round) => BurstAsync(shape, round, cancellationToken),
            (shape, measured) =>
            {
                rounds[shape].Add(measured);
                Show(shape, jitter, measured);
            },
            cancellationToken);
        foreach (var side in new[] { one, three })
        {
            var audit = await new Auditor(side.Stack.ConnectionString) { JournalsAreComplete = side.Stack.Postgres is not null }
                .RunAsync(side.Journals, cancellationToken);
            _audits.Add(AuditCounts.Of(audit, AnswerCount.Differences(audit, side.Answered, balances: 0).Count));
        }
    }

    private async Task<Side> StartAsync(int backends, bool jitter, CancellationToken cancellationToken)
    {
        var stack = await Starting.StackAsync(
            options.Stack with { PaymentBackends = backends, BalanceBackends = backends, Jitter = jitter }, console, cancellationToken);
        _transport = stack.Transport;
        return new Side(backends, stack);
    }

    private async Task<PaperRound> BurstAsync(Shape shape, int round, CancellationToken cancellationToken)
    {
        var (side, requests) = shape;
        var load = new LoadOptions { Proxies = side.Stack.ProxyAddresses, Requests = requests, WarmUp = options.WarmUp };
        var name = string.Create(CultureInfo.InvariantCulture, $"burst-{requests}-{round}");
        var burst = await Burst.RunAsync(load, Clients, side.Stack.Folder, name, cancellationToken);
        side.Journals.AddRange(burst.Journals);
        side.Answered += burst.Answered;
        var (payments, since) = (burst.Payments, burst.SinceStart);
        return new PaperRound(
            payments.Shortest, payments.Longest, payments.Average, burst.TotalS, payments.Errors,
            new PaperRow(since.Shortest, since.Longest, since.Average));
    }

    private void Show(Shape shape, bool jitter, PaperRound round) => console.WriteLine(string.Create(CultureInfo.InvariantCulture,
        $"{Clients} x {shape.Requests:N0}, {Numbers.Counted(shape.Side.Backends, "backend")}, jitter {(jitter ? "on" : "off")}: since the start of the burst min {round.SinceStart!.Shortest:0.00} s, max {round.SinceStart.Longest:0.00} s, mean {round.SinceStart.Average:0.00} s; total {round.Total:0.00} s, failed {round.Errors}"));

    private PaperResult Result(RunInfo run) => new()
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

    private sealed record Shape(Side Side, int Requests);

    private sealed class Side(int backends, BillingStack stack) : IAsyncDisposable
    {
        public int Backends => backends;

        public BillingStack Stack => stack;

        public List<string> Journals { get; } = [];

        public long Answered { get; set; }

        public ValueTask DisposeAsync() => stack.DisposeAsync();
    }
}
