using System.Runtime.InteropServices;
using Billing.Messaging;

namespace Billing.Backends.Balances;

/// <summary>Places for the requests of one kind, from before each is answered until the brokers have acknowledged its
/// answer. A request without a place waits, which takes little; so the answers that cannot be sent stay few. Those to
/// one proxy take only some of the places: while its topic cannot be written to, others have theirs.
/// Thread-safe.</summary>
/// <param name="max">The places.</param>
internal sealed class UnsentAnswers(int max)
{
    // More than the brokers acknowledge in the time in which as many are read.
    private const int MaxOfProxy = 16;

    private readonly Dictionary<string, int> _taken = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Queue<Delivery>> _waiting = new(StringComparer.Ordinal);

    // The proxies for which requests wait, the one whose turn it is first.
    private readonly Queue<string> _turns = [];
    private readonly Lock _gate = new();
    private int _sum;

    /// <summary>Takes a place for a request, or has the request wait for one.</summary>
    /// <returns>Whether there was one.</returns>
    public bool TryEnter(Delivery delivery)
    {
        var proxy = delivery.Command.ProxyTopic;
        lock (_gate)
        {
            if (!_waiting.ContainsKey(proxy) && TryTake(proxy))
            {
                return true;
            }
            ref var waiting = ref CollectionsMarshal.GetValueRefOrAddDefault(_waiting, proxy, out var waits);
            if (!waits)
            {
                waiting = [];
                _turns.Enqueue(proxy);
            }
            waiting!.Enqueue(delivery);
            return false;
        }
    }

    /// <summary>Gives up the place of a request.</summary>
    /// <returns>The request that has waited for it; null if none did.</returns>
    public Delivery? Leave(Delivery delivery)
    {
        var proxy = delivery.Command.ProxyTopic;
        lock (_gate)
        {
            _sum--;
            if (--CollectionsMarshal.GetValueRefOrNullRef(_taken, proxy) == 0)
            {
                _taken.Remove(proxy);
            }
            for (var turns = _turns.Count; turns > 0; turns--)
            {
                var next = _turns.Dequeue();
                if (TryTake(next))
                {
                    return Dequeue(next);
                }
                _turns.Enqueue(next);
            }
            return null;
        }
    }

    private bool TryTake(string proxy)
    {
        var taken = _taken.GetValueOrDefault(proxy);
        if (_sum >= max || taken >= MaxOfProxy)
        {
            return false;
        }
        _taken[proxy] = taken + 1;
        _sum++;
        return true;
    }

    private Delivery Dequeue(string proxy)
    {
        var waiting = _waiting[proxy];
        var delivery = waiting.Dequeue();
        if (waiting.Count > 0)
        {
            _turns.Enqueue(proxy);
        }
        else
        {
            _waiting.Remove(proxy);
        }
        return delivery;
    }
}
