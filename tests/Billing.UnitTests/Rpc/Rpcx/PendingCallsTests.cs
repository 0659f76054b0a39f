using System.Buffers;
using Billing.Rpc.Rpcx;
using Billing.Rpc.Rpcx.Calling;
using Billing.UnitTests.Testing;
using FsCheck.Fluent;

namespace Billing.UnitTests.Rpc.Rpcx;

public sealed class PendingCallsTests
{
    private readonly PendingCalls _calls = new();

    [Fact]
    public void A_call_is_taken_once()
    {
        var call = new Call();
        Assert.True(_calls.TryEnter(call, CallClock.Never, out var id));
        Assert.Same(call, _calls.Take(id));
        Assert.Null(_calls.Take(id));
        Assert.Equal(0, _calls.Count);
    }

    [Fact]
    public void The_id_of_an_ended_call_does_not_match_a_later_call_in_the_same_entry()
    {
        _calls.TryEnter(new Call(), CallClock.Never, out var first);
        _calls.Take(first);
        var call = new Call();
        _calls.TryEnter(call, CallClock.Never, out var second);
        Assert.NotEqual(first, second);
        Assert.Null(_calls.Take(first));
        Assert.Same(call, _calls.Take(second));
    }

    [Fact]
    public void Unknown_ids_match_no_call() => Generate.AnyLong.Holds(id =>
    {
        var calls = new PendingCalls();
        calls.TryEnter(new Call(), CallClock.Never, out var own);
        Assert.True(own != 0);
        if (unchecked((ulong)id) != own)
        {
            Assert.Null(calls.Take(unchecked((ulong)id)));
        }
    });

    [Fact]
    public void It_contains_the_calls_that_were_added_and_not_taken() => Gen.Choose(-1, 20).ArrayOf(300).Holds(steps =>
    {
        var calls = new PendingCalls();
        var waiting = new List<(ulong Id, Call Call)>();
        foreach (var step in steps)
        {
            if (step >= 0 && step < waiting.Count)
            {
                Assert.Same(waiting[step].Call, calls.Take(waiting[step].Id));
                waiting.RemoveAt(step);
            }
            else
            {
                var call = new Call();
                Assert.True(calls.TryEnter(call, CallClock.Never, out var id));
                waiting.Add((id, call));
            }
            Assert.Equal(waiting.Count, calls.Count);
        }
        Assert.Equal(waiting.Select(w => w.Id).Order(), waiting.Select(w => w.Id).Distinct().Order());
        Assert.All(waiting, w => Assert.Same(w.Call, calls.Take(w.Id)));
    });

    [Fact]
    public void Only_overdue_calls_are_taken_and_the_next_deadline_is_returned()
    {
        _calls.TryEnter(new Call(), 10, out var due);
        _calls.TryEnter(new Call(), 30, out _);
        _calls.TryEnter(new Call(), 20, out _);
        var overdue = new List<(ulong Id, IPendingCall Call)>();
        Assert.Equal(20, _calls.RemoveOverdue(10, overdue));
        Assert.Equal(due, Assert.Single(overdue).Id);
        Assert.Equal(2, _calls.Count);
        Assert.Equal(CallClock.Never, _calls.RemoveOverdue(30, overdue));
        Assert.Equal(0, _calls.Count);
    }

    [Fact]
    public void Closing_returns_the_calls_and_rejects_further_ones()
    {
        var call = new Call();
        _calls.TryEnter(call, CallClock.Never, out _);
        Assert.Same(call, Assert.Single(_calls.Close()));
        Assert.False(_calls.TryEnter(call, CallClock.Never, out _));
        Assert.Empty(_calls.Close());
    }

    private sealed class Call : IPendingCall
    {
        public void Complete(in ReadOnlySequence<byte> payload) => throw new NotSupportedException();

        public void Fail(Exception exception) => throw new NotSupportedException();
    }
}
