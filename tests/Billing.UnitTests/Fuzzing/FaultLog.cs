using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Fuzzing;

/// <summary>A log that keeps what is logged as an error. What the server itself logs about connections
/// that it ends is none.</summary>
internal sealed class FaultLog : ILoggerProvider, ILogger
{
    // Fields after a body's last chunk that are none, where only the server reads them, after the answer;
    // and frames that ask for more answers than it keeps.
    private static readonly string[] OfTheServer =
    [
        "RequestBodyDrainBodyReaderInvalidState", "Http2QueueOperationsExceeded",
        "Http2FlowControlQueueOperationsExceeded",
    ];

    private readonly ConcurrentQueue<string> _faults = new();

    /// <summary>Fails if there was any.</summary>
    public void AssertNone() => Assert.True(_faults.IsEmpty, "It was logged: " + string.Join('\n', _faults));

    public ILogger CreateLogger(string categoryName) => this;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state,
        Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (logLevel >= LogLevel.Error && !OfTheServer.Contains(eventId.Name))
        {
            _faults.Enqueue($"{formatter(state, exception)} {exception}");
        }
    }

    public void Dispose()
    {
    }
}
