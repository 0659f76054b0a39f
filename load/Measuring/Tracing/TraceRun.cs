using Npgsql;
using Spectre.Console;

namespace Billing.Measuring.Tracing;

/// <summary>Sends timed payments and writes the times of their steps. If it is interrupted or fails, the payments
/// traced so far are written.</summary>
internal sealed class TraceRun(TraceOptions options, IAnsiConsole console, TimeProvider time)
{
    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan JoinMax = TimeSpan.FromSeconds(60);

    // The longest wait for the answers to payments in flight when the trace is interrupted.
    private static readonly TimeSpan StopMax = TimeSpan.FromSeconds(5);

    private IReadOnlyList<TracedPayment> _payments = [];
    private string _transport = "";
    private bool? _isJoined;

    /// <returns>The process's exit code: 0 only if every payment was answered and, if the event store is known,
    /// found in it; 130 if it was interrupted.</returns>
    /// <exception cref="Exception">The error that ended the sending early, thrown after the payments traced
    /// so far are written.</exception>
    public Task<int> RunAsync(CancellationToken cancellationToken) =>
        Measurement.Of(options.Subject, console, time).RunAsync(
            TraceResult.FormatOf(result => TracePage.Of(result, _payments)), MeasureAsync,
            run => TraceResult.Of(run, options, _transport, _payments, _isJoined), cancellationToken);

    private async Task MeasureAsync(CancellationToken cancellationToken)
    {
        await using var stack = options.Subject.Targets.Count == 0
            ? await Starting.StackAsync(options.Subject.Stack, console, cancellationToken)
            : null;
        _transport = stack?.Transport ?? "";
        await using var tracer = new PaymentTracer(options, stack?.ProxyAddresses ?? options.Subject.Targets, time);
        try
        {
            await SendAsync(tracer, cancellationToken);
        }
        finally
        {
            _payments = tracer.Payments;
            await JoinAsync(stack?.ConnectionString ?? options.EventStore);
            Directory.CreateDirectory(options.Subject.Out);
            await TraceFile.WriteAsync(Path.Combine(options.Subject.Out, "trace.csv"), _payments);
        }
    }

    private async Task SendAsync(PaymentTracer tracer, CancellationToken cancellationToken)
    {
        await console.Status().StartAsync("Warming up", _ => tracer.WarmUpAsync(cancellationToken));
        var running = tracer.RunAsync(cancellationToken);
        await console.Progress()
            .Columns(
                new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new ElapsedTimeColumn())
            .StartAsync(async progress =>
            {
                var bar = progress.AddTask("Payments", maxValue: options.Requests);
                while (!cancellationToken.IsCancellationRequested
                    && await Task.WhenAny(
                        running, Task.Delay(ProgressInterval, time, CancellationToken.None)) != running)
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

    private async Task JoinAsync(string? eventStore)
    {
        if (eventStore is null)
        {
            return;
        }
        // Not the command's token: after an interrupt the payments traced so far are looked up too.
        using var bound = new CancellationTokenSource(JoinMax, time);
        try
        {
            await StoreTimestamps.JoinAsync(eventStore, _payments, bound.Token);
            _isJoined = true;
        }
        catch (Exception e) when (e is NpgsqlException or OperationCanceledException)
        {
            console.MarkupLineInterpolated($"[yellow]The event store could not be queried: {e.Message}[/]");
            _isJoined = false;
        }
    }
}
