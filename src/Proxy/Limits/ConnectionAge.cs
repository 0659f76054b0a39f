using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;

namespace Billing.Proxy.Limits;

/// <summary>Gives each connection its greatest age: <see cref="LimitOptions.ConnectionAgeMax"/>, a tenth more or less,
/// so that connections that were opened together do not end together. A balancer of connections leads their callers to
/// other proxies then, and a certificate that was replaced is not used any more.</summary>
/// <param name="limits">The limits.</param>
/// <param name="deadlineMax">The longest time of a call.</param>
/// <param name="time">The clock.</param>
internal sealed class ConnectionAges(LimitOptions limits, TimeSpan deadlineMax, TimeProvider time)
{
    // A call may begin on an old connection as long as the connection is not idle for too long.
    private readonly TimeSpan _ending = limits.ConnectionIdleMax + deadlineMax;

    // Each proxy begins elsewhere: a caller may have opened its connections to all of them at the same time.
    private readonly Spread _spread = new(unchecked((uint)time.GetTimestamp()));

    /// <summary>Serves a connection to its end.</summary>
    public async Task ServeAsync(ConnectionContext connection, ConnectionDelegate next)
    {
        var ageMax = limits.ConnectionAgeMax * (0.9 + (0.2 * _spread.Next()));
        using var age = new ConnectionAge(connection, ageMax, _ending, time);
        connection.Features.Set(age);
        var transport = new LingeringTransport(connection.Transport, () => age.IsToldByGoAway);
        connection.Transport = transport;
        await next(connection);
        if (age.IsToldByGoAway)
        {
            using var enough = new CancellationTokenSource(StreamEnd.Grace, time);
            await transport.DrainAsync(enough.Token);
        }
    }
}

/// <summary>The age of one connection. When it is old, its caller is told to open another one: over HTTP/2 by GOAWAY,
/// over HTTP/1.1 with the next answer. That is told only while something is asked: in between, a caller may just be
/// sending a request, and would lose it. Then its streams end, after <see cref="StreamEnd.Grace"/>, so that the next
/// ones are opened elsewhere. Some time later, when what was asked by then must have been answered, the connection is
/// closed if nobody uses it, and after <see cref="StreamEnd.Grace"/> it is cut off, whoever uses it.</summary>
internal sealed class ConnectionAge : IDisposable
{
    private readonly ConnectionContext _connection;
    private readonly TimeSpan _ageMax;
    private readonly TimeSpan _ending;
    private readonly ITimer _timer;
    private readonly CancellationTokenSource _streamsEnd = new();
    private readonly CancellationTokenSource _lastStreamsEnd = new();
    private volatile bool _isOld;
    private volatile bool _isToldByGoAway;
    private int _step;
    private int _streams;

    /// <param name="connection">The connection, which has just been opened.</param>
    /// <param name="ageMax">When it is old.</param>
    /// <param name="ending">How long calls may go on then.</param>
    /// <param name="time">The clock.</param>
    public ConnectionAge(ConnectionContext connection, TimeSpan ageMax, TimeSpan ending, TimeProvider time)
    {
        (_connection, _ageMax, _ending) = (connection, ageMax, ending);
        _timer = time.CreateTimer(_ => Grow(), null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        After(ageMax);
    }

    /// <summary>Whether its caller was told by GOAWAY to open another one.</summary>
    public bool IsToldByGoAway => _isToldByGoAway;

    /// <summary>The middleware: a call on an old connection is served, and its caller told to open another one.
    /// </summary>
    public static Task InvokeAsync(HttpContext http, RequestDelegate next)
    {
        if (http.Features.Get<ConnectionAge>() is { _isOld: true } old)
        {
            old.End(http);
        }
        return next(http);
    }

    /// <summary>Tells the caller of a request to open another connection for the next one.</summary>
    public void End(HttpContext http)
    {
        if (IsShared(http))
        {
            GoAway();
        }
        else
        {
            http.Response.Headers.Connection = "close";
        }
    }

    /// <summary>Begins a stream, to be followed by <see cref="CloseStream"/>.</summary>
    /// <returns>Cancelled when the stream has to end. One that is opened on an old connection, because its caller has
    /// not heard of that yet, may last as long as a call.</returns>
    public CancellationToken OpenStream(HttpContext http)
    {
        if (IsShared(http))
        {
            Interlocked.Increment(ref _streams);
        }
        return _isOld ? _lastStreamsEnd.Token : _streamsEnd.Token;
    }

    /// <summary>Ends a stream.</summary>
    public void CloseStream(HttpContext http)
    {
        if (IsShared(http))
        {
            Interlocked.Decrement(ref _streams);
        }
    }

    /// <inheritdoc/>
    public override string ToString() =>
        $"{_ageMax.TotalSeconds:0} s ({LimitOptions.Section}:{nameof(LimitOptions.ConnectionAgeMax)}, "
        + "a tenth more or less)";

    public void Dispose()
    {
        _timer.Dispose();
        _streamsEnd.Dispose();
        _lastStreamsEnd.Dispose();
    }

    // Whether its connection has other requests at the same time.
    private static bool IsShared(HttpContext http) => HttpProtocol.IsHttp2(http.Request.Protocol);

    private void After(TimeSpan wait) => _timer.Change(wait, Timeout.InfiniteTimeSpan);

    // Kestrel serves what comes after it, too, as long as a call is active.
    private void GoAway()
    {
        _isToldByGoAway = true;
        _connection.Features.Get<IConnectionLifetimeNotificationFeature>()?.RequestClose();
    }

    private void Grow()
    {
        try
        {
            switch (_step++)
            {
                case 0:
                    After(StreamEnd.Grace);
                    _isOld = true;
                    if (Volatile.Read(ref _streams) > 0)
                    {
                        GoAway();
                    }
                    break;
                case 1:
                    After(_ending);
                    _streamsEnd.Cancel();
                    break;
                case 2:
                    After(StreamEnd.Grace);
                    _connection.Features.Get<IConnectionLifetimeNotificationFeature>()?.RequestClose();
                    _lastStreamsEnd.Cancel();
                    break;
                default:
                    _connection.Abort(new ConnectionAbortedException(
                        $"The connection was used after it had been open for {this} and {_ending}."));
                    break;
            }
        }
        catch (ObjectDisposedException)
        {
            // The connection has ended in the meantime.
        }
    }
}
