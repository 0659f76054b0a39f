using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Billing.UnitTests.Fuzzing;

/// <summary>A log that keeps what is logged as an error. What the server itself logs about connections that it ends is none.</summary>
internal sealed class FaultLog : ILoggerProvider, ILogger
{
    // Of the fields after a body's last chunk, which the server reads after the answer if nothing else has.
    private const string Undrained = "RequestBodyDrainBodyReaderInvalidState";

    private readonly ConcurrentQueue<string> _faults = new();

    /// <summary>Fails if there was any.</summary>
    public void AssertNone() => Assert.True(_faults.IsEmpty, "It was logged: " + string.Join('\n', _faults));

    public ILogger CreateLogger(string categoryName) => this;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (logLevel >= LogLevel.Error && eventId.Name != Undrained)
        {
            _faults.Enqueue($"{formatter(state, exception)} {exception}");
        }
    }

    public void Dispose()
    {
    }
}
