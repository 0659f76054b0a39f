using System.Runtime.ExceptionServices;
using Billing.Reporting.Pages;
using Npgsql;
using Spectre.Console;

namespace Billing.Measuring.Tracing;

/// <summary>Sends timed payments and writes the times of their steps. If it is interrupted or fails, the payments traced so far
/// are written.</summary>
internal sealed class TraceRun(TraceOptions options, IAnsiConsole console, TimeProvider time)
{
    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan JoinMax = TimeSpan.FromSeconds(60);

    // The longest wait for the answers to payments in flight when the trace is interrupted.
    private static readonly TimeSpan StopMax = TimeSpan.FromSeconds(5);

    /// <returns>The process's exit code: 0 only if every payment was answered and, if the event store is known, found in it; 130
    /// if it was interrupted.</returns>
    /// <exception cref="Exception">The error that ended the sending early, thrown after the payments traced so far are written.
    /// </exception>
    public async Task<int> RunAsync(CancellationToken cancellationToken)
    {
        await using var stack = options.Subject.Targets.Count == 0 ? await Starting.StackAsync(options.Subject.Stack, console, cancellationToken) : null;
        var proxies = stack?.ProxyAddresses ?? options.Subject.Targets;
        var startedAt = time.GetUtcNow();
        await using var tracer = new PaymentTracer(options, proxies, time);
        var failure = await FailureOfSendingAsync(tracer, cancellationToken);
        var payments = tracer.Payments;
        var isJoined = await JoinAsync(stack?.ConnectionString ?? options.EventStore, payments);
        var summary = TraceResult.Of(options, stack?.Transport ?? "", payments, startedAt) with
        {
            Incomplete = cancellationToken.IsCancellationRequested ? "interrupted" : failure?.SourceException.Message,
        };
        TraceTable.Print(console, summary);
        await WriteAsync(summary, payments);
        if (cancellationToken.IsCancellationRequested)
        {
            return 130;
        }
        failure?.Throw();
        return summary.Requests.Failed == 0 && (isJoined is null || (isJoined.Value && summary.Requests.InStore == payments.Count)) ? 0 : 1;
    }

    private async Task<ExceptionDispatchInfo?> FailureOfSendingAsync(PaymentTracer tracer, CancellationToken cancellationToken)
    {
        try
        {
            await SendAsync(tracer, cancellationToken);
            return null;
        }
        catch (Exception e) when (tracer.Done > 0)
        {
            // Thrown again after the payments traced so far are written.
            return ExceptionDispatchInfo.Capture(e);
        }
    }

    private async Task SendAsync(PaymentTracer tracer, CancellationToken cancellationToken)
    {
        await console.Status().StartAsync("Warming up", _ => tracer.WarmUpAsync(cancellationToken));
        var running = tracer.RunAsync(cancellationToken);
        await console.Progress()
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn())
            .StartAsync(async progress =>
            {
                var bar = progress.AddTask("Payments", maxValue: options.Requests);
                while (!cancellationToken.IsCancellationRequested
                    && await Task.WhenAny(running, Task.Delay(ProgressInterval, time, CancellationToken.None)) != running)
                {
                    bar.Value = tracer.Done;
                }
                if (!cancellationToken.IsCancellationRequested
                    || await Task.WhenAny(running, Task.Delay(StopMax, time, CancellationToken.None)) == running)
                {
                    await running;
                }
                bar.Value = tracer.Done;
            });
    }

    // Null if no event store is known, false if it could not be queried.
    private async Task<bool?> JoinAsync(string? eventStore, IReadOnlyList<TracedPayment> payments)
    {
        if (eventStore is null)
        {
            return null;
        }
        // Not the command's token: after an interrupt the payments traced so far are looked up too.
        using var bound = new CancellationTokenSource(JoinMax, time);
        try
        {
            await StoreTimestamps.JoinAsync(eventStore, payments, bound.Token);
            return true;
        }
        catch (Exception e) when (e is NpgsqlException or OperationCanceledException)
        {
            console.MarkupLineInterpolated($"[yellow]The event store could not be queried: {e.Message}[/]");
            return false;
        }
    }

    private async Task WriteAsync(TraceResult summary, IReadOnlyList<TracedPayment> payments)
    {
        Directory.CreateDirectory(options.Subject.Out);
        await TraceFile.WriteAsync(Path.Combine(options.Subject.Out, "trace.csv"), payments);
        await summary.WriteAsync(Path.Combine(options.Subject.Out, "summary.json"));
        var page = await TracePage.Of(summary, payments).WriteAsync(options.Subject.Out);
        console.MarkupLineInterpolated($"Report: {page}");
    }
}
