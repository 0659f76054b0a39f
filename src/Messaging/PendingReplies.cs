using System.Collections.Concurrent;
using System.Security.Cryptography;
using Billing.Contracts;
using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>The calls of one proxy that wait for a reply, by correlation id. One timer serves all deadlines, so a waiting
/// call costs an entry and a <see cref="TaskCompletionSource{TResult}"/>, nothing else. How long a call waits is fixed when
/// it is entered and measured on the monotonic clock: setting the wall clock changes no wait.</summary>
public sealed class PendingReplies : IDisposable
{
    private static readonly TimeSpan SweepInterval = TimeSpan.FromMilliseconds(50);

    private const long MicrosecondsPerSecond = 1_000_000;

    private readonly ConcurrentDictionary<ulong, Waiter> _waiters = new();
    private readonly TimeProvider _time;
    private readonly ITimer _sweep;
    private long _lastCorrelationId;

    /// <summary>Creates an empty table. Correlation ids begin at random: who may write to a reply topic, and not read the
    /// commands, cannot guess what is waited for.</summary>
    public PendingReplies(TimeProvider time)
        : this(time, BitConverter.ToInt64(RandomNumberGenerator.GetBytes(sizeof(long))) & (long.MaxValue >> 1))
    {
    }

    /// <summary>Creates an empty table.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="lastCorrelationId">The correlation id before the first.</param>
    internal PendingReplies(TimeProvider time, long lastCorrelationId)
    {
        _lastCorrelationId = lastCorrelationId;
        _time = time;
        _sweep = time.CreateTimer(_ => ExpireOverdue(), null, SweepInterval, SweepInterval);
    }

    /// <summary>Calls that wait now.</summary>
    public int Count => _waiters.Count;

    /// <summary>Enters a call. Call this before the command is sent: the reply may be faster than the sender.</summary>
    /// <param name="command">Gets its correlation id here; its deadline bounds the wait.</param>
    /// <param name="cancellationToken">The caller has gone.</param>
    /// <returns>The reply, or one with DEADLINE_EXCEEDED.</returns>
    public Task<Reply> Register(Command command, CancellationToken cancellationToken)
    {
        var id = (ulong)Interlocked.Increment(ref _lastCorrelationId);
        command.CorrelationId = id;
        var waiter = new Waiter(DueAt(command.DeadlineUnixUs), command.TransactionId);
        _waiters[id] = waiter;
        if (cancellationToken.CanBeCanceled)
        {
            var registration = cancellationToken.UnsafeRegister(_ => Cancel(id, cancellationToken), null);
            if (!waiter.TryAttach(registration))
            {
                registration.Unregister();
            }
        }
        return waiter.Task;
    }

    /// <summary>Whether a reply that names a transaction names that of the call that waits for it. One that nobody waits for
    /// is about anything.</summary>
    public bool IsAbout(Reply reply)
    {
        var named = (reply.Payment ?? reply.PaymentStatus?.Payment)?.TransactionId ?? reply.CreditLimit?.TransactionId;
        // A UUID may be written in two cases.
        return named is null || !_waiters.TryGetValue(reply.CorrelationId, out var waiter) || named == waiter.TransactionId
            || (Guid.TryParse(named, out var id) && Guid.TryParse(waiter.TransactionId, out var asked) && id == asked);
    }

    /// <summary>Hands a reply to the call that waits for it.</summary>
    /// <returns>False where nobody waits any more.</returns>
    public bool Complete(Reply reply)
    {
        if (!_waiters.TryRemove(reply.CorrelationId, out var waiter))
        {
            return false;
        }
        waiter.Release();
        return waiter.TrySetResult(reply);
    }

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

    private void Cancel(ulong id, CancellationToken cancellationToken)
    {
        if (_waiters.TryRemove(id, out var waiter))
        {
            waiter.TrySetCanceled(cancellationToken);
        }
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

    // Continuations run elsewhere: the one thread that reads replies must never run a caller's code.
    private sealed class Waiter(long dueAt, string transactionId)
        : TaskCompletionSource<Reply>(TaskCreationOptions.RunContinuationsAsynchronously)
    {
        private readonly Lock _gate = new();
        private CancellationTokenRegistration _registration;
        private bool _released;

        /// <summary>The timestamp at which it is given up.</summary>
        public long DueAt { get; } = dueAt;

        /// <summary>The transaction that the call is about.</summary>
        public string TransactionId => transactionId;

        /// <summary>Keeps the registration until the reply comes; false where it already has.</summary>
        public bool TryAttach(CancellationTokenRegistration registration)
        {
            lock (_gate)
            {
                _registration = registration;
                return !_released;
            }
        }

        public void Release()
        {
            lock (_gate)
            {
                _released = true;
                // Not Dispose: that would wait for a cancellation callback that may be running.
                _registration.Unregister();
            }
        }
    }
}
