using System.Runtime.ExceptionServices;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>Which run results are of, as JSON; the names are part of the interface.</summary>
/// <param name="Command">The command line.</param>
/// <param name="At">When it began.</param>
/// <param name="Complete">False where it ended before its end.</param>
/// <param name="Machine">What it ran on.</param>
/// <param name="Reason">Why it is not complete; null where it is, and in older results.</param>
internal sealed record RunInfo(string Command, DateTimeOffset At, bool Complete, Machine Machine, string? Reason = null);

/// <summary>What a measurement came to.</summary>
internal interface IResults : ILatencies
{
    /// <summary>Which run they are of.</summary>
    RunInfo Run { get; }

    /// <summary>Whether there is anything to show.</summary>
    bool HasFigures { get; }

    /// <summary>Whether all went as it must: no request failed but where that is what is measured, and every audit was made and is
    /// clean. If not, the command fails although it measured.</summary>
    bool IsGood { get; }
}

/// <summary>One measurement from its start to its results: however it ends, what there is by then is printed and written.
/// </summary>
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
    /// <exception cref="Exception">What ended it early, once what was measured is written.</exception>
    public async Task<int> RunAsync<T>(
        ResultFormat<T> format, Func<CancellationToken, Task> measure, Func<RunInfo, T> results, CancellationToken cancellationToken)
        where T : IResults
    {
        var at = time.GetUtcNow();
        var failure = await FailureOfAsync(measure, cancellationToken);
        var stopped = cancellationToken.IsCancellationRequested;
        var reason = stopped ? "it was stopped" : failure?.SourceException.Message;
        var measured = results(new RunInfo(command, at, reason is null, Machine.This(), reason));
        if (reason is null)
        {
            await folder.WriteAsync(format, measured);
            return measured.IsGood ? 0 : 1;
        }
        if (measured.HasFigures)
        {
            await WriteIncompleteAsync(format, measured, reason);
        }
        if (!stopped)
        {
            failure!.Throw();
        }
        if (!measured.HasFigures)
        {
            cancellationToken.ThrowIfCancellationRequested();
        }
        return Interrupted;
    }

    private static async Task<ExceptionDispatchInfo?> FailureOfAsync(Func<CancellationToken, Task> measure, CancellationToken cancellationToken)
    {
        try
        {
            await measure(cancellationToken);
            return null;
        }
        catch (Exception e)
        {
            // Thrown again when what was measured is written.
            return ExceptionDispatchInfo.Capture(e);
        }
    }

    private async Task WriteIncompleteAsync<T>(ResultFormat<T> format, T measured, string reason)
    {
        console.WriteLine($"Not complete: {reason}. What was measured by then:");
        try
        {
            await folder.WriteAsync(format, measured);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // What ended the measurement is the better reason to fail for.
            console.WriteLine($"It could not be written: {e.Message}");
        }
    }
}
