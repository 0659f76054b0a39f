using System.Globalization;
using System.Text.Json;
using Billing.Contracts;
using Billing.LocalStack.Processes;
using Billing.Measuring.Processes;

namespace Billing.Measuring.Driving;

/// <summary>Worker processes that send requests together.</summary>
/// <param name="folder">The folder for their files.</param>
/// <param name="name">A name that distinguishes several fleets in one folder.</param>
internal sealed class DriveFleet(StackFolder folder, string name = "drive")
{
    private int _drives;

    /// <summary>All payments sent so far.</summary>
    public SentPayments Payments { get; private set; }

    /// <summary>Runs one measurement: the workers warm up and begin at the same time, and their results are combined.</summary>
    /// <param name="spec">The load of each worker; the workers use different seeds.</param>
    /// <param name="workers">Number of worker processes.</param>
    /// <param name="programs">Programs whose processor time is measured while the workers send.</param>
    /// <param name="cancellationToken">Ends the measurement early; the figures measured so far are returned.</param>
    /// <param name="watch">Called just before the workers begin and just after they have ended.</param>
    /// <exception cref="OperationCanceledException">Cancelled before the measurement began.</exception>
    /// <exception cref="StackException">A worker failed.</exception>
    public async Task<DriveFigures> RunAsync(
        DriveSpec spec, int workers, IReadOnlyCollection<(string Name, int ProcessId)> programs, CancellationToken cancellationToken,
        IMeasurementObserver? watch = null)
    {
        var data = folder.CreateSubfolder(string.Create(CultureInfo.InvariantCulture, $"{name}-{++_drives}"));
        var started = new List<(ControlledProcess Process, string Result)>();
        try
        {
            for (var worker = 1; worker <= workers; worker++)
            {
                started.Add(await StartAsync(spec with { Seed = spec.Seed + (worker * 7_000_003) }, worker, data));
            }
            await Task.WhenAll(started.Select(w => w.Process.WaitUntilReadyAsync(cancellationToken)));
            await (watch?.BeginAsync(cancellationToken) ?? Task.CompletedTask);
            await using var stop = cancellationToken.Register(() => started.ForEach(w => w.Process.EndInput()));
            var cpu = new CpuMeter(programs);
            await Task.WhenAll(started.Select(w => w.Process.RunAsync(CancellationToken.None)));
            var used = cpu.Elapsed();
            await (watch?.EndAsync() ?? Task.CompletedTask);
            var figures = DriveFigures.Of([.. started.Select(w => Read(w.Result))], used);
            Payments += figures.Payments;
            return figures;
        }
        finally
        {
            foreach (var (process, _) in started)
            {
                await process.DisposeAsync();
            }
            Directory.Delete(data, recursive: true);
        }
    }

    private static async Task<(ControlledProcess Process, string Result)> StartAsync(DriveSpec spec, int worker, string data)
    {
        var specFile = Path.Combine(data, string.Create(CultureInfo.InvariantCulture, $"spec-{worker}.json"));
        var resultFile = Path.Combine(data, string.Create(CultureInfo.InvariantCulture, $"result-{worker}.json"));
        await File.WriteAllBytesAsync(specFile, JsonSerializer.SerializeToUtf8Bytes(spec, DriveJson.Default.DriveSpec));
        return (ControlledProcess.Start("A worker", "Billing.Cli", ["drive", specFile, resultFile]), resultFile);
    }

    private static DriveResult Read(string file) =>
        JsonSerializer.Deserialize(File.ReadAllBytes(file), DriveJson.Default.DriveResult)!;
}

/// <summary>Observes the loaded system immediately before and after a measurement, so that it does not affect the figures.
/// </summary>
internal interface IMeasurementObserver
{
    /// <summary>Called when the workers have warmed up and wait for the start.</summary>
    Task BeginAsync(CancellationToken cancellationToken);

    /// <summary>Called when the workers have ended, early or not.</summary>
    Task EndAsync();
}

/// <summary>The combined results of the workers of one measurement.</summary>
/// <param name="DurationS">Seconds from the first worker's start to the last answer.</param>
/// <param name="Ok">Number of requests answered.</param>
/// <param name="Declined">Of these, the number of declined payments.</param>
/// <param name="Errors">Number of failed requests by status.</param>
/// <param name="PerSecond">Answers per second.</param>
/// <param name="Latency">Latencies of the answered requests.</param>
/// <param name="AnswersPerSecond">Number of answers in each second from the start.</param>
/// <param name="CpuS">Seconds of processor time by program; that of the workers under <c>client</c>.</param>
public sealed record DriveFigures(
    double DurationS, long Ok, long Declined, IReadOnlyDictionary<string, long> Errors, double PerSecond,
    LatencyFigures Latency, IReadOnlyList<long> AnswersPerSecond, IReadOnlyDictionary<string, double> CpuS)
{
    /// <summary>Latencies of the requests that were refused with RESOURCE_EXHAUSTED.</summary>
    public LatencyFigures Refusals { get; private init; } = new LatencyHistogram().Figures();

    /// <summary>The times of the steps of the timed payments.</summary>
    public IReadOnlyList<StepTimes> Timed { get; private init; } = [];

    /// <summary>The resources that each worker used while it measured; only if its payments are timed.</summary>
    public IReadOnlyList<ProgramUse> Workers { get; private init; } = [];

    /// <summary>All payments that the workers have sent, those of their warm-ups included.</summary>
    public SentPayments Payments { get; private init; }

    /// <summary>Number of failed requests.</summary>
    public long Failed => Errors.Values.Sum();

    /// <summary>Percentage of requests that failed.</summary>
    public double ErrorPercent => Ok + Failed == 0 ? 0 : 100.0 * Failed / (Ok + Failed);

    /// <summary>Combines the results of workers.</summary>
    /// <param name="results">The results, at least one.</param>
    /// <param name="cpu">Seconds of processor time of the programs that served the requests.</param>
    public static DriveFigures Of(IReadOnlyList<DriveResult> results, IReadOnlyDictionary<string, double> cpu)
    {
        var (latencies, refusals) = (new LatencyHistogram(), new LatencyHistogram());
        foreach (var result in results)
        {
            latencies.Add(result.Latencies);
            refusals.Add(result.Refusals);
        }
        var start = results.Min(r => r.StartedUnixUs);
        var duration = results.Max(r => ((r.StartedUnixUs - start) / 1e6) + r.ElapsedS);
        var ok = results.Sum(r => r.Ok);
        return new DriveFigures(
            duration, ok, results.Sum(r => r.Declined),
            new SortedDictionary<string, long>(
                results.SelectMany(r => r.Errors).GroupBy(e => e.Key, e => e.Value).ToDictionary(e => e.Key, e => e.Sum()), StringComparer.Ordinal),
            duration > 0 ? ok / duration : 0, latencies.Figures(),
            [.. Enumerable.Range(0, results.Max(r => r.AnswersPerSecond.Count)).Select(second => results.Sum(r => r.AnswersPerSecond.ElementAtOrDefault(second)))],
            new SortedDictionary<string, double>(cpu.ToDictionary(), StringComparer.Ordinal) { ["client"] = results.Sum(r => r.CpuS) })
        {
            Refusals = refusals.Figures(),
            Timed = [.. results.SelectMany(r => r.Timed).Select(text => StepTimes.TryParse(text, out var times) ? times : null).OfType<StepTimes>()],
            Workers = [.. results.Select(r => r.Worker).OfType<ProgramUse>()],
            Payments = results.Aggregate(default(SentPayments), (sum, result) => sum + result.Payments),
        };
    }
}
