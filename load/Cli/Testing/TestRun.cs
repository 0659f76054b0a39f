using System.Diagnostics;
using System.Globalization;
using Billing.Cli.Setup;
using Billing.LocalStack.Processes;

namespace Billing.Cli.Testing;

/// <summary>Runs test programs, as many at a time as the machine has cores, and adds up their counts.</summary>
/// <param name="filter">The arguments that choose tests of the programs; all without any.</param>
internal sealed class TestRun(params string[] filter)
{
    // Two programs that keep all cores busy by themselves; beside other tests they would take longer than
    // one after the other.
    private const string Alone = "Billing.IntegrationTests";
    private const string Second = "Billing.ChaosTests";

    // It needs nothing but processors, and takes what the others leave of them.
    private const string Beside = "Billing.UnitTests";
    private const int SlowestShown = 10;
    private static readonly TimeSpan StopBound = TimeSpan.FromSeconds(50);

    // No test takes nearly so long, however slow the machine; fuzzers and the like have a filter, and as much time
    // as they are given.
    private static readonly TimeSpan HungAfter = TimeSpan.FromMinutes(20);
    private const string Hung = "[Long Running Test]";

    private readonly List<TestReport> _reports = [];

    public static IReadOnlyList<string> ProgramsOf(string root) =>
    [
        .. Directory.EnumerateDirectories(Path.Combine(root, "tests"), "*Tests")
            .Select(folder => Path.GetFileName(folder)).Order(StringComparer.Ordinal),
    ];

    /// <summary>Runs test programs. The last line says how many tests passed, failed and were skipped.</summary>
    public async Task<int> RunAsync(IReadOnlyCollection<string> programs, CancellationToken cancellationToken)
    {
        await using (var folder = TemporaryFolder.In(Path.GetTempPath()))
        {
            var waiting = new Queue<string>(programs.OrderBy(name => name switch
            {
                Beside =>
                0,
                Alone => 1,
                Second => 2,
                _ => 3
            }));
            var running = new Dictionary<Task, string>();
            while (waiting.Count + running.Count > 0)
            {
                while (waiting.Count > 0 && running.Values.Count(name => name != Beside) < Environment.ProcessorCount
                    && !running.ContainsValue(Alone))
                {
                    var name = waiting.Dequeue();
                    running.Add(RunAsync(name, folder.Path, cancellationToken), name);
                }
                var ended = Task.WhenAny(running.Keys);
                await Progress.WithClockAsync(string.Join(", ", running.Values), () => ended);
                running.Remove(await ended);
                await await ended;
            }
        }
        PrintSlowest();
        // Again, since whoever reads a long log begins at its end.
        foreach (var failure in _reports.SelectMany(report => report.Failures))
        {
            Console.WriteLine(failure);
        }
        var failed = _reports.Sum(report => report.Failed);
        Console.WriteLine(
            $"{_reports.Sum(report => report.Passed)} passed, {failed} failed, "
            + $"{_reports.Sum(report => report.Skipped)} skipped");
        return failed == 0 ? 0 : 1;
    }

    private async Task RunAsync(string name, string folder, CancellationToken cancellationToken)
    {
        var started = Stopwatch.GetTimestamp();
        var log = Path.Combine(folder, name + ".log");
        var report = Path.Combine(folder, name + ".xml");
        await using var program = ChildProcess.Start(new ChildProcessStart(
            name, "nice",
            [
                "-n", name == Beside ? "10" : "0", Path.ChangeExtension(DotnetProgram.FileOf(name), null), "-noLogo",
                "-noColor", "-xml", report, .. Watched, .. filter,
            ],
            log)
        {
            StopSignal = Signal.Interrupt,
            OrphanSignal = Signal.Interrupt,
        });
        try
        {
            await ExitAsync(program, cancellationToken);
        }
        catch (OperationCanceledException)
        {
            // It stops what its tests have started.
            await program.StopAsync(StopBound);
            throw;
        }
        var read = TestReport.Read(report, program.ExitCode ?? 1);
        if (read.Failed > 0)
        {
            Console.WriteLine(await File.ReadAllTextAsync(log, cancellationToken));
        }
        foreach (var note in read.Notes)
        {
            Console.WriteLine(note);
        }
        Console.WriteLine(
            $"{name}: {read.Passed} passed, {read.Failed} failed, {read.Skipped} skipped in "
            + $"{(int)Stopwatch.GetElapsedTime(started).TotalSeconds} s");
        _reports.Add(read);
    }

    private IEnumerable<string> Watched =>
        filter.Length > 0 ? [] : ["-longRunning", HungAfter.TotalSeconds.ToString(CultureInfo.InvariantCulture)];

    // A program with a test that hangs would never end. What it prints says which one.
    private static async Task ExitAsync(ChildProcess program, CancellationToken cancellationToken)
    {
        var exit = program.WaitForExitAsync(cancellationToken);
        var hung = program.WaitForOutputAsync(
            line => line.Contains(Hung, StringComparison.Ordinal), Timeout.InfiniteTimeSpan, cancellationToken);
        await Task.WhenAny(exit, hung);
        if (hung.IsCompletedSuccessfully)
        {
            await program.StopAsync(StopBound);
        }
        await exit;
    }

    private void PrintSlowest()
    {
        Messages.Say("the slowest test classes, in seconds:");
        foreach (var (name, seconds) in _reports.SelectMany(report => report.Classes)
            .OrderByDescending(test => test.Value).Take(SlowestShown))
        {
            Console.Error.WriteLine($"  {seconds,7:F1}  {name}");
        }
    }
}
