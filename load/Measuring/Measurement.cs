using System.Runtime.ExceptionServices;
using Billing.Reporting;
using Spectre.Console;

namespace Billing.Measuring;

/// <summary>The run that results belong to, as JSON; the names are part of the interface.</summary>
/// <param name="Command">The command line.</param>
/// <param name="At">The time at which the run began.</param>
/// <param name="Complete">Whether the run reached its end.</param>
/// <param name="Machine">The machine that it ran on.</param>
/// <param name="Reason">Why the run is not complete; null if it is complete.</param>
internal sealed record RunInfo(
    string Command, DateTimeOffset At, bool Complete, Machine Machine, string? Reason = null);

/// <summary>The results of a measurement.</summary>
internal interface IResults : ILatencies
{
    /// <summary>The run that they belong to.</summary>
    RunInfo Run { get; }

    /// <summary>Whether there are any figures to show.</summary>
    bool HasFigures { get; }

    /// <summary>Whether the results are valid: no request failed, except where failures are what is measured,
    /// and every audit was made and is clean. If not, the command fails although it has measured.</summary>
    bool IsGood { get; }
}

/// <summary>One measurement from its start to its results. If it ends early, the figures measured so far are
/// printed and written.</summary>
internal sealed class Measurement(string command, ResultFolder folder, IAnsiConsole console, TimeProvider time)
{
    private const int Interrupted = 130;

    /// <summary>Creates the measurement of a system.</summary>
    public static Measurement Of(MeasuredSystem subject, IAnsiConsole console, TimeProvider time) =>
        new(subject.CommandLine, new ResultFolder(console, subject.Out), console, time);

    /// <summary>Measures, then prints and writes the results.</summary>
    /// <param name="measure">Measures until it is done or cancelled.</param>
    /// <param name="results">Summarises what has been measured.</param>
    /// <returns>The process's exit code: 0 for valid results, 1 for others, 130 if it was interrupted.</returns>
    /// <exception cref="OperationCanceledException">It was interrupted before there were figures.</exception>
    /// <exception cref="Exception">The error that ended it early, thrown after the figures measured so far are written.
    /// </exception>
    public async Task<int> RunAsync<T>(
        ResultFormat<T> format, Func<CancellationToken, Task> measure,
        Func<RunInfo, T> results, CancellationToken cancellationToken)
        where T : IResults
    {
        var at = time.GetUtcNow();
        var failure = await FailureOfAsync(measure, cancellationToken);
        var interrupted = cancellationToken.IsCancellationRequested;
        var reason = interrupted ? "interrupted" : failure?.SourceException.Message;
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
        if (!interrupted)
        {
            failure!.Throw();
        }
        if (!measured.HasFigures)
        {
            cancellationToken.ThrowIfCancellationRequested();
        }
        return Interrupted;
    }

    private static async Task<ExceptionDispatchInfo?> FailureOfAsync(
        Func<CancellationToken, Task> measure, CancellationToken cancellationToken)
    {
        try
        {
            await measure(cancellationToken);
            return null;
        }
        catch (Exception e)
        {
            // Thrown again after the figures measured so far are written.
            return ExceptionDispatchInfo.Capture(e);
        }
    }

    private async Task WriteIncompleteAsync<T>(ResultFormat<T> format, T measured, string reason)
    {
        console.WriteLine($"Not complete: {reason}. The figures measured so far:");
        try
        {
            await folder.WriteAsync(format, measured);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Not thrown: the error that ended the measurement matters more.
            console.WriteLine($"The results could not be written: {e.Message}");
        }
    }
}
