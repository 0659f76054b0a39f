using Billing.Simulation.Store;

namespace Billing.Simulation.Books;

/// <content>What changes in a run besides the accounts: the settings, and what the event store has lost by a
/// restore.</content>
internal sealed partial class ReferenceModel
{
    // Those that the settings of the run have had so far.
    private readonly List<IReadOnlyDictionary<string, decimal>> _openingLimits = [];

    /// <summary>Notes the credit limits that accounts have from now on without one of their own, by currency.</summary>
    public void Set(IReadOnlyDictionary<string, decimal> openingLimits) => _openingLimits.Add(openingLimits);

    private bool IsLimit(State state, decimal limit) =>
        _openingLimits.Any(opening => limit == LimitOf(state, opening));

    // As long as an account has no currency, its limit is not known.
    private static decimal LimitOf(State state, IReadOnlyDictionary<string, decimal> opening) =>
        state.Limit ?? (state.Currency is { } currency ? opening.GetValueOrDefault(currency) : 0);

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
