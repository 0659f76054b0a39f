using System.Buffers.Binary;
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
    private readonly Func<ulong> _nextId;

    /// <summary>Creates an empty table.</summary>
    public PendingReplies(TimeProvider time)
        : this(time, CorrelationIds.Next)
    {
    }

    /// <summary>Creates an empty table.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="nextId">Returns numbers for correlation ids; 0, and one that a waiting call has, is passed
    /// over.</param>
    internal PendingReplies(TimeProvider time, Func<ulong> nextId)
    {
        _nextId = nextId;
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
        var waiter = new Waiter(DueAt(request.DeadlineUnixUs), request);
        ulong id;
        do
        {
            id = _nextId();
        }
        while (id == 0 || !_waiters.TryAdd(id, waiter));
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

/// <summary>Correlation ids that nobody can guess: a program that may write to a reply topic, but does not read the
/// commands, must not answer a call. 64 random bits each, of which a thread gets many at a time.</summary>
internal static class CorrelationIds
{
    private const int BytesAtOnce = 64 * sizeof(ulong);

    [ThreadStatic]
    private static byte[]? _random;

    [ThreadStatic]
    private static int _left;

    public static ulong Next()
    {
        _random ??= new byte[BytesAtOnce];
        if (_left == 0)
        {
            RandomNumberGenerator.Fill(_random);
            _left = BytesAtOnce;
        }
        _left -= sizeof(ulong);
        return BinaryPrimitives.ReadUInt64LittleEndian(_random.AsSpan(_left));
    }
}
