using Billing.Simulation.Store;

namespace Billing.Simulation.Books;

/// <content>What changes in a run besides the accounts: the settings, and what the event store has lost by a
/// restore.</content>
internal sealed partial class ReferenceModel
{
    /// <summary>The credit limits that an account without one of its own has had by the settings of the run so
    /// far.</summary>
    public HashSet<decimal> DefaultLimits { get; } = [Settings.DefaultCreditLimit];

    private bool IsLimit(State state, decimal limit) =>
        state.Limit is { } own ? limit == own : DefaultLimits.Contains(limit);

    /// <summary>The event store was restored to an earlier time: what came after it has never been, and what was
    /// closed since is not. What is still on the topics may be executed now, whatever its caller was told.</summary>
    public void TakeBack(IReadOnlyList<Stored> lost)
    {
        _refused.Clear();
        foreach (var attempt in _attempts.Values.SelectMany(attempts => attempts))
        {
            attempt.IsOver = false;
        }
        foreach (var id in lost.Select(stored => stored.Id))
        {
            _recorded.Remove(id);
            _answers.Remove(id);
            _recordedFor.Remove(id);
        }
        // Refunds and captures change what is known of a payment, so all that is known of these accounts is made again.
        foreach (var streamId in lost.Select(stored => stored.StreamId).Distinct(StringComparer.Ordinal))
        {
            _states.Remove(streamId);
            foreach (var id in _payments.Keys.Where(id => id.StreamId == streamId).ToList())
            {
                _payments.Remove(id);
            }
        }
    }
}
