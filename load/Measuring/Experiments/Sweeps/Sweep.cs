using System.Globalization;
using Billing.Auditing;
using Billing.Driver;
using Billing.Measuring.Loads;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring.Experiments.Sweeps;

/// <summary>Measures in the two modes of HIVE, the ICE lab's load tool: static, with one number of connections
/// and of requests in flight on each; dynamic, with growing numbers up to a bound, until more load no longer
/// increases the throughput.</summary>
internal sealed class Sweep(SweepOptions options, IAnsiConsole console, TimeProvider time)
{
    /// <summary>The kind of its results.</summary>
    public const string Kind = "sweep";

    // The highest of many figures may be a lucky one, as the speed of the machine varies. So the best configurations
    // are measured again, alternating, before one of them is reported.
    private const int Finalists = 2;
    private const int FinalRounds = 5;

    // Sources.IceLab, test 28: requests per second on 16 cores.
    private const double PublishedPuts = 56_000;
    private const double PublishedGets = 120_000;

    private static readonly Figure PerCore = new("per_core", "Of a core of this machine", "/s", 0);
    private static readonly Figure[] Columns =
    [
        Figure.PerSecond, PerCore, Figure.P50Ms, Figure.P99Ms, Figure.MaxMs, Figure.Failed, Figure.CpuUs,
    ];

    private readonly List<ResultSection> _sections = [];
    private readonly List<AuditCounts> _audits = [];
    private readonly Dictionary<LoadProtocol, List<SweptCell>> _cells = [];
    private bool _isValid = true;

    /// <summary>Measures, prints the figures and writes the results, also those of a sweep that was stopped.</summary>
    /// <returns>0; 1 if nothing was answered or the audit is not clean; 130 if it was stopped.</returns>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        Measurement.Of(options.Subject, console, time)
            .RunAsync(ExperimentRunner.FormatOf(Kind), MeasureAsync, Result, cancellationToken);

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        // This machine's echo says nothing about proxies on others.
        await using var side = options.Subject.Targets.Count > 0
            ? new TargetSide(options.Subject.Targets)
            : (Side)new StackSide(
                "platform", await Starting.StackAsync(options.Subject.Stack, console, cancellationToken));
        foreach (var protocol in options.Protocols)
        {
            await MeasureAsync(side, protocol, cancellationToken);
        }
        if (await side.AuditAsync(console, cancellationToken) is { } audit)
        {
            _audits.Add(audit);
        }
    }

    private async Task MeasureAsync(Side side, LoadProtocol protocol, CancellationToken cancellationToken)
    {
        var (cells, place) = (new List<ResultRow>(), _sections.Count);
        var swept = _cells[protocol] = [];
        await SearchAsync(async point =>
        {
            var (load, measured) = await MeasureAsync(side, protocol, point, options.BalancePercent, cancellationToken);
            swept.Add(new SweptCell(
                point.Connections, point.InFlight, load.DurationS, load.All.Answered,
                load.PerSecond, load.All.Latency, load.All.Errors));
            cells.Add(RowOf(point, measured));
            _sections.RemoveRange(place, _sections.Count - place);
            _sections.Add(SectionOf(
                $"{Name(protocol)}: the search",
                cells) with
            { Chart = options.IsDynamic ? ChartKind.Heat : ChartKind.None });
            cancellationToken.ThrowIfCancellationRequested();
            // A higher throughput with failed requests is no gain.
            return measured.Failed > 0 ? 0 : measured.Figures[Figure.PerSecond.Id];
        });
        if (options.IsDynamic)
        {
            await MeasureAgainAsync(side, protocol, Candidates(cells), cancellationToken);
        }
        else
        {
            _isValid &= cells.All(row => row.Rounds.All(m => m.Failed == 0 && m.Figures[Figure.PerSecond.Id] > 0));
        }
    }

    private async Task MeasureAgainAsync(
        Side side, LoadProtocol protocol, IReadOnlyList<ResultRow> candidates, CancellationToken cancellationToken)
    {
        var points = candidates.Select(row => new SweepPoint((int)row.Position!, (int)row.Across!)).ToList();
        _isValid &= points.Count > 0;
        if (points.Count == 0)
        {
            return;
        }
        var again = await RepeatAsync(side, protocol, points, options.BalancePercent, cancellationToken);
        var best = again.MaxBy(row => row.Of(Figure.PerSecond)!.Median)!;
        var bounded = again.Where(row => row.Of(Figure.P99Ms)!.Median <= options.LatencyBoundMs)
            .MaxBy(row => row.Of(Figure.PerSecond)!.Median);
        _isValid &= again.All(row => row.Rounds.All(m => m.Failed == 0));
        _sections.Add(SectionOf(
            $"{Name(protocol)}: the best, measured again in turn",
            [.. again.Select(row => Published(row, protocol, row == best, PublishedPuts))]) with
        {
            Note = (bounded is null ? "None has" : "The best with")
                + $" a p99 within {options.LatencyBoundMs} ms{(bounded is null ? "" : ": " + bounded.Case)}; "
                + $"the latency is that of a closed loop, which sends no faster than it is answered.{Where(protocol)}",
        });
        if (protocol == LoadProtocol.Rest)
        {
            var gets = await RepeatAsync(
                side, protocol, [new SweepPoint((int)best.Position!, (int)best.Across!)], 100, cancellationToken);
            _sections.Add(SectionOf(
                "REST GET of balances, at the best configuration",
                [.. gets.Select(row => Published(row, protocol, isBest: false, PublishedGets))]) with
            {
                Note = Where(protocol).TrimStart(),
            });
        }
    }

    private async Task<IReadOnlyList<ResultRow>> RepeatAsync(
        Side side, LoadProtocol protocol, IReadOnlyList<SweepPoint> points,
        int balancePercent, CancellationToken cancellationToken)
    {
        var rows = points.ToDictionary(point => point, point => RowOf(point));
        for (var round = 0; round <= FinalRounds; round++)
        {
            foreach (var point in round % 2 == 0 ? points : points.Reverse())
            {
                var (_, measured) = await MeasureAsync(side, protocol, point, balancePercent, cancellationToken);
                cancellationToken.ThrowIfCancellationRequested();
                // The first round is dropped.
                rows[point] =
                    round == 0 ? rows[point] : rows[point] with { Rounds = [.. rows[point].Rounds, measured] };
            }
        }
        return [.. points.Select(point => rows[point])];
    }

    private async Task<(LoadFigures Load, Measured Measured)> MeasureAsync(
        Side side, LoadProtocol protocol, SweepPoint point, int balancePercent, CancellationToken cancellationToken)
    {
        var callers = point.Connections * point.InFlight;
        var load = await side.LoadAsync(
            new LoadSpec
            {
                Addresses = [],
                Protocol = protocol,
                Connections = point.Connections,
                WarmUp =
                    options.WarmUp > TimeSpan.Zero ? new LoadShape.Closed(callers, options.WarmUp.TotalSeconds) : null,
                Shape = new LoadShape.Closed(callers, options.During.TotalSeconds) { Amount = options.Amount },
                BalancePercent = protocol == LoadProtocol.Stream ? 0 : balancePercent,
                RetriesMax = 0,
                StreamWindow = Math.Max(1, point.InFlight),
            },
            options.Workers, cancellationToken);
        var measured = Measured.Of(load);
        console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{Name(protocol)}, {point.Connections} connections x {point.InFlight} in flight: "
                + $"{load.PerSecond:N0}/s, p50 {load.All.Latency.P50Ms:0.0} ms, p99 {load.All.Latency.P99Ms:0.0} ms, "
                + $"failed {measured.Failed}"));
        return (load, measured with
        {
            Figures = new Dictionary<string, double>(measured.Figures)
            {
                [PerCore.Id] = load.PerSecond / Environment.ProcessorCount,
            },
        });
    }

    private Task SearchAsync(Func<SweepPoint, Task<double>> measure) => options.IsDynamic
        ? DynamicSearch.RunAsync(options.Connections, options.InFlight, measure)
        : measure(new SweepPoint(options.Connections, options.InFlight));

    // The configurations with the most answers per second, overall and within the latency bound.
    internal IReadOnlyList<ResultRow> Candidates(IReadOnlyList<ResultRow> cells)
    {
        var unfailing = cells.Where(row => row.Rounds.All(m => m.Failed == 0) && row.Of(Figure.PerSecond)!.Median > 0)
            .OrderByDescending(row => row.Of(Figure.PerSecond)!.Median).ToList();
        return
        [
            .. unfailing.Take(Finalists)
                .Concat(unfailing.Where(row => row.Of(Figure.P99Ms)!.Median <= options.LatencyBoundMs).Take(Finalists))
                .Distinct(),
        ];
    }

    private static ResultRow RowOf(SweepPoint point, params IReadOnlyList<Measured> rounds) =>
        new(string.Create(CultureInfo.InvariantCulture, $"{point.Connections} x {point.InFlight}"), "platform", rounds)
        {
            Position = point.Connections,
            Across = point.InFlight,
        };

    private static ResultRow Published(ResultRow row, LoadProtocol protocol, bool isBest, double perSecond) => row with
    {
        IsBest = isBest,
        Published = protocol == LoadProtocol.Rest && isBest || perSecond == PublishedGets
            ? new Dictionary<string, double> { [Figure.PerSecond.Id] = perSecond }
            : row.Published,
    };

    private static ResultSection SectionOf(string title, IReadOnlyList<ResultRow> rows) => new()
    {
        Title = title,
        CaseHeading = "Connections x in flight on each",
        Columns = Columns,
        Chart = ChartKind.None,
        Rows = [.. rows],
    };

    private static string Where(LoadProtocol protocol) => protocol == LoadProtocol.Rest
        ? " HIVE's figures are of 16 cores (7,500 PUT/s of a core) and of a server that answers before "
            + "anything is stored."
        : "";

    private static string Name(LoadProtocol protocol) => protocol switch
    {
        LoadProtocol.Stream => "gRPC bulk streams",
        LoadProtocol.Rest => "REST, pipelined",
        _ => "gRPC calls",
    };

    private string Requests => options.BalancePercent == 0
        ? "payments"
        : $"payments, and {options.BalancePercent} % balance checks";

    private ExperimentResult Result(RunInfo run) => new()
    {
        Kind = Kind,
        Run = run,
        Title = options.IsDynamic ? "Search for the highest throughput" : "Throughput of one configuration",
        Source = Sources.IceLab,
        Facts =
        [
            new Fact(
                "Method",
                $"closed loop from {Numbers.Counted(options.Workers, "driver")}: latencies count from each call; "
                    + $"{Requests}; a configuration with a failed request is never the best; "
                    + "the load tool shares the machine, and its processor time is not in the column of the CPU"),
        ],
        Sections = _sections,
        Protocols = [.. _cells.Select(protocol => new SweptProtocol(protocol.Key.ToString(), protocol.Value))],
        Audits = _audits,
        HasStore = options.Subject.Targets.Count == 0,
        IsValid = _isValid && _sections.Count > 0,
    };
}
