using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>Which run results are of, as JSON; the names are part of the interface.</summary>
/// <param name="Command">The command line.</param>
/// <param name="At">When it began.</param>
/// <param name="Complete">False where it was stopped before its end.</param>
/// <param name="Machine">What it ran on.</param>
internal sealed record RunInfo(string Command, DateTimeOffset At, bool Complete, Machine Machine);

/// <summary>What a measurement came to.</summary>
internal interface IResults
{
    /// <summary>Which run they are of.</summary>
    RunInfo Run { get; }

    /// <summary>Whether there is anything to show.</summary>
    bool HasFigures { get; }

    /// <summary>Whether all went as it must; if not, the command fails although it measured.</summary>
    bool IsGood { get; }
}

/// <summary>One measurement from its start to its results: what there is by then is printed and written when it is stopped,
/// too.</summary>
internal sealed class Measurement(string command, ResultFolder folder, IAnsiConsole console, TimeProvider time)
{
    private const int Interrupted = 130;

    /// <summary>The measurement of a system.</summary>
    public static Measurement Of(MeasuredSystem subject, IAnsiConsole console, TimeProvider time) =>
        new(subject.CommandLine, new ResultFolder(console, subject.Out), console, time);

    /// <summary>Measures, prints and writes.</summary>
    /// <param name="format">How the results are kept.</param>
    /// <param name="measure">Measures until the token ends it.</param>
    /// <param name="results">Sums up what was measured by then.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <returns>The process's exit code: 0 for good results, 1 for others, 130 where it was stopped.</returns>
    /// <exception cref="OperationCanceledException">It was stopped before there were figures.</exception>
    public async Task<int> RunAsync<T>(
        ResultFormat<T> format, Func<CancellationToken, Task> measure, Func<RunInfo, T> results, CancellationToken cancellationToken)
        where T : IResults
    {
        var at = time.GetUtcNow();
        try
        {
            await measure(cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // What there is by then is written below.
        }
        var stopped = cancellationToken.IsCancellationRequested;
        var measured = results(new RunInfo(command, at, !stopped, Machine.This()));
        if (stopped)
        {
            if (!measured.HasFigures)
            {
                cancellationToken.ThrowIfCancellationRequested();
            }
            console.WriteLine("Stopped; what was measured by then:");
        }
        await folder.WriteAsync(format, measured);
        return stopped ? Interrupted : measured.IsGood ? 0 : 1;
    }
}
