using Billing.Auditing;
using Spectre.Console;

namespace Billing.Operator.Audits;

/// <summary>The progress of what reads the whole event store: a bar for each part,
/// added when the part begins.</summary>
internal sealed class AuditBars : IProgress<AuditProgress>
{
    private readonly Dictionary<string, ProgressTask> _tasks = new(StringComparer.Ordinal);
    private readonly ProgressContext _progress;

    private AuditBars(ProgressContext progress) => _progress = progress;

    /// <summary>Shows the bars while something runs; none where nobody watches.</summary>
    public static Task<T> ShowAsync<T>(IAnsiConsole console, Func<IProgress<AuditProgress>?, Task<T>> run) =>
        console.Profile.Capabilities.Interactive
            ? console.Progress().AutoClear(true)
                .Columns(
                    new TaskDescriptionColumn(), new ProgressBarColumn(),
                    new PercentageColumn(), new ElapsedTimeColumn())
                .StartAsync(progress => run(new AuditBars(progress)))
            : run(null);

    public void Report(AuditProgress value)
    {
        lock (_tasks)
        {
            if (!_tasks.TryGetValue(value.Part, out var task))
            {
                task = _progress.AddTask(value.Part);
                _tasks.Add(value.Part, task);
            }
            // Spectre does not accept a bar of length zero.
            task.MaxValue = Math.Max(1, value.Total);
            task.Value = value.Done == value.Total ? task.MaxValue : value.Done;
        }
    }
}
