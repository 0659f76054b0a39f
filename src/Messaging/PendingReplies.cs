using System.Collections.Concurrent;
using System.Security.Cryptography;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>The calls of one proxy that wait for a reply, by correlation id. One timer serves all deadlines,
/// so a waiting call costs only an entry and a <see cref="TaskCompletionSource{TResult}"/>. The time that a
/// call may wait is fixed when it is registered and measured on the monotonic clock, so setting the wall clock
/// does not change it.</summary>
public sealed class PendingReplies : IDisposable
{
    private static readonly TimeSpan SweepInterval = TimeSpan.FromMilliseconds(50);

    private const long MicrosecondsPerSecond = 1_000_000;

    private readonly ConcurrentDictionary<ulong, Waiter> _waiters = new();
    private readonly TimeProvider _time;
    private readonly ITimer _sweep;
    private long _lastCorrelationId;

    /// <summary>Creates an empty table. Correlation ids begin at a random number, so that a program which may write to
    /// the reply topic but not read the commands cannot guess the ids of the waiting calls.</summary>
    public PendingReplies(TimeProvider time)
        : this(time, BitConverter.ToInt64(RandomNumberGenerator.GetBytes(sizeof(long))) & (long.MaxValue >> 1))
    {
    }

    /// <summary>Creates an empty table.</summary>
    internal PendingReplies(TimeProvider time, long lastCorrelationId)
    {
        _lastCorrelationId = lastCorrelationId;
        _time = time;
        _sweep = time.CreateTimer(_ => ExpireOverdue(), null, SweepInterval, SweepInterval);
    }

    /// <summary>Number of waiting calls.</summary>
    public int Count => _waiters.Count;

    /// <summary>Registers a call. Must be called before the command is sent, because the reply may arrive before
    /// the send returns.</summary>
    /// <param name="request">The request of the call; the wait ends at its deadline.</param>
    /// <returns>The correlation id for the command, and the reply: that of a backend, or an error with
    /// DEADLINE_EXCEEDED.</returns>
    public (ulong CorrelationId, Task<Reply> Reply) Register(Request request)
    {
        var id = (ulong)Interlocked.Increment(ref _lastCorrelationId);
        var waiter = new Waiter(DueAt(request.DeadlineUnixUs), request);
        _waiters[id] = waiter;
        return (id, waiter.Task);
    }

    /// <summary>Whether a reply may complete the call that it names: an error, or an answer of the call's kind and with
    /// its ids. Also true if no call waits for the reply.</summary>
    public bool MatchesCall(Reply reply) =>
        reply.ResultCase == Reply.ResultOneofCase.Error
        || !_waiters.TryGetValue(reply.CorrelationId, out var waiter)
        || waiter.Request.IsAnsweredBy(reply);

    /// <summary>Completes the call that waits for a reply.</summary>
    /// <returns>False if the call does not wait any more.</returns>
    public bool Complete(Reply reply) =>
        _waiters.TryRemove(reply.CorrelationId, out var waiter) && waiter.TrySetResult(reply);

    /// <inheritdoc/>
    public void Dispose() => _sweep.Dispose();

    private long DueAt(long deadlineUnixUs)
    {
        if (deadlineUnixUs == 0)
        {
            return long.MaxValue;
        }
        var left = (Int128)(deadlineUnixUs - _time.Microseconds()) * _time.TimestampFrequency / MicrosecondsPerSecond;
        return (long)Int128.Min(long.MaxValue, _time.GetTimestamp() + left);
    }

    private void ExpireOverdue()
    {
        var now = _time.GetTimestamp();
        foreach (var (id, waiter) in _waiters)
        {
            if (waiter.DueAt <= now)
            {
                Complete(Replies.NoAnswerInTime(id));
            }
        }
    }

    // Continuations run asynchronously: the only thread that reads replies must never run a caller's code.
    private sealed class Waiter(long dueAt, Request request)
        : TaskCompletionSource<Reply>(TaskCreationOptions.RunContinuationsAsynchronously)
    {
        /// <summary>The timestamp at which the wait ends.</summary>
        public long DueAt { get; } = dueAt;

        /// <summary>The call's request.</summary>
        public Request Request => request;
    }
}
