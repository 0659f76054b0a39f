using Microsoft.AspNetCore.Connections;

namespace Billing.Proxy.Memory;

/// <summary>One connection and its open requests: each takes memory from when its headers have come until its handler
/// has ended and, over HTTP/2, its answer is written to the connection.</summary>
internal sealed class CallerConnection(
    ConnectionContext connection, MemoryPart.Holder address, MemoryPart part, TimeProvider time)
{
    /// <summary>How long an answer may stay unread; then its place stays taken, and many of them end the
    /// connection.</summary>
    public static readonly TimeSpan UnreadMax = TimeSpan.FromSeconds(30);

    // A caller may cancel a call that is just being answered, and nothing is written then: a few of these are no sign
    // of a caller that does not read.
    private const int OverdueMax = 100;

    // A caller knows how many streams it may have open: a few more are those that it opens before it is told.
    private const int RefusedMax = 100;

    private readonly Lock _gate = new();
    private readonly Dictionary<int, Request> _requests = [];
    private bool _closed;
    private int _refused;

    /// <summary>Whether its address has so much of the memory that the size of each request has to be known: a
    /// sixteenth. To find it out takes time, and a request has at most a few times its ordinary size.</summary>
    public bool HasMuch => address.Held > part.Bytes / 16;

    /// <summary>Whether <see cref="Sent"/> is called when an answer is written.</summary>
    public bool IsMetered { get; set; }

    /// <summary>Takes memory for a request.</summary>
    /// <param name="stream">Its stream; 0 for the one request of a connection of HTTP/1.1.</param>
    /// <param name="bytes">What it takes.</param>
    /// <returns>Whether it is served. If not, it is to be refused, or the connection has been ended: an address that
    /// goes on when it is refused gets no more answers.</returns>
    public bool TryOpen(int stream, long bytes)
    {
        var isServed = part.TryTake(address, bytes);
        if (!isServed && !part.TryTake(address, bytes, beyond: part.Bytes / 8))
        {
            Abort("Its address has too many requests open.");
            return false;
        }
        lock (_gate)
        {
            if (!_closed && _requests.TryAdd(stream, new Request(bytes)))
            {
                return isServed;
            }
        }
        part.Give(address, bytes);
        return isServed;
    }

    /// <summary>The handler of a request has ended.</summary>
    /// <param name="stream">Its stream.</param>
    /// <param name="isAborted">Whether there is no answer to be sent.</param>
    public void End(int stream, bool isAborted)
    {
        lock (_gate)
        {
            if (_requests.TryGetValue(stream, out var request))
            {
                if (request.IsSent || isAborted || !IsMetered)
                {
                    Remove(stream, request);
                }
                else
                {
                    _requests[stream] = request with { EndedAt = time.GetTimestamp() };
                }
            }
        }
    }

    /// <summary>The end of an answer was written.</summary>
    /// <param name="stream">Its stream.</param>
    /// <param name="isRefused">Whether it is a reset of one stream too many. Each costs the server as much as a short
    /// request, so that many of them end the connection.</param>
    public void Sent(int stream, bool isRefused = false)
    {
        if (isRefused && ++_refused == RefusedMax)
        {
            Abort($"Its caller has opened {RefusedMax} streams more than it may.");
        }
        lock (_gate)
        {
            if (_requests.TryGetValue(stream, out var request))
            {
                if (request.EndedAt is not null)
                {
                    Remove(stream, request);
                }
                else
                {
                    _requests[stream] = request with { IsSent = true };
                }
            }
        }
    }

    /// <summary>Ends the connection if its caller leaves many answers unread.</summary>
    public void EndIfUnread()
    {
        int overdue;
        lock (_gate)
        {
            overdue = _requests.Values.Count(
                request => request.EndedAt is { } ended && time.GetElapsedTime(ended) >= UnreadMax);
        }
        if (overdue > OverdueMax)
        {
            Abort($"Its caller has left {overdue} answers unread for {UnreadMax.TotalSeconds} s.");
        }
    }

    /// <summary>The connection has ended: nothing of it is left.</summary>
    public void Close()
    {
        lock (_gate)
        {
            _closed = true;
            part.Give(address, _requests.Values.Sum(request => request.Bytes));
            _requests.Clear();
        }
    }

    private void Abort(string reason) => connection.Abort(new ConnectionAbortedException(reason));

    private void Remove(int stream, Request request)
    {
        _requests.Remove(stream);
        part.Give(address, request.Bytes);
    }

    private readonly record struct Request(long Bytes, bool IsSent = false, long? EndedAt = null);
}
