using Billing.Hosting;
using Microsoft.Extensions.Hosting.Internal;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Billing.UnitTests.Hosting;

public sealed class SupervisorTests : IDisposable
{
    private readonly ApplicationLifetime _lifetime = new(NullLogger<ApplicationLifetime>.Instance);
    private readonly LogLines _log = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly Supervisor _supervisor;
    private readonly int _exitCode = Environment.ExitCode;

    public SupervisorTests() => _supervisor = new Supervisor(_lifetime, _log);

    public void Dispose()
    {
        // Restores the exit code of the test process.
        Environment.ExitCode = _exitCode;
        _supervisor.Dispose();
        _stop.Dispose();
    }

    [Fact]
    public async Task A_loop_that_throws_is_logged_once_and_stops_the_process_with_a_failure()
    {
        await _supervisor.RunAsync("reading", _ => throw new IOException("planted"), _stop.Token);

        AssertFailed("reading", "planted");
    }

    [Fact]
    public async Task A_loop_that_ends_by_itself_has_failed()
    {
        await _supervisor.RunAsync("reading", _ => Task.CompletedTask, _stop.Token);

        AssertFailed("reading", "without a stop request");
    }

    [Fact]
    public async Task A_loop_that_ends_with_another_cancellation_than_its_stop_has_failed()
    {
        await _supervisor.RunAsync("reading", _ => throw new OperationCanceledException("another"), _stop.Token);

        AssertFailed("reading", "another");
    }

    [Fact]
    public async Task A_loop_that_ends_because_it_was_stopped_has_not_failed()
    {
        var loop = _supervisor.RunAsync("reading", token => Task.Delay(Timeout.InfiniteTimeSpan, token), _stop.Token);
        await _stop.CancelAsync();
        await loop;

        Assert.True(_supervisor.IsHealthy);
        Assert.Empty(_log.Lines);
    }

    [Fact]
    public async Task A_failure_of_a_watched_task_fails_the_process()
    {
        var work = new TaskCompletionSource();
        _supervisor.Watch("answering", work.Task);
        Assert.True(_supervisor.IsHealthy);
        work.SetException(new IOException("planted"));
        await Task.WhenAny(work.Task);

        AssertFailed("answering", "planted");
    }

    [Fact]
    public void Only_the_first_failure_is_logged()
    {
        _supervisor.Fail("reading", new IOException("first"));
        _supervisor.Fail("writing", new IOException("second"));

        AssertFailed("reading", "first");
    }

    private void AssertFailed(string loop, string cause)
    {
        Assert.False(_supervisor.IsHealthy);
        Assert.True(_lifetime.ApplicationStopping.IsCancellationRequested);
        Assert.Equal(Service.Failed, Environment.ExitCode);
        var line = Assert.Single(_log.Lines);
        Assert.StartsWith("Critical " + loop, line, StringComparison.Ordinal);
        Assert.Contains(cause, line, StringComparison.Ordinal);
    }

    private sealed class LogLines : ILogger<Supervisor>
    {
        public List<string> Lines { get; } = [];

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception,
            Func<TState, Exception?, string> formatter) =>
            Lines.Add($"{logLevel} {formatter(state, exception)} {exception?.Message}");
    }
}
