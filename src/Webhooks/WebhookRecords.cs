using Billing.Hosting;
using Billing.Messaging;
using Billing.Wire.V1;

namespace Billing.Webhooks;

/// <summary>An event among those of its account that wait, in their order.</summary>
/// <param name="Incarnation">The number under which the event store held the account:
/// after a restore, versions are used again under a higher one.</param>
/// <param name="Version">Its version under that number.</param>
/// <param name="Id">Its own id.</param>
internal readonly record struct PendingId(long Incarnation, long Version, Guid Id)
{
    /// <summary>That of a published event.</summary>
    public static PendingId Of(Event recorded) => new(recorded.Incarnation, recorded.Version, EventIds.Of(recorded));
}

/// <summary>An event for a receiver.</summary>
/// <param name="Receiver">The receiver's name.</param>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Id">Which event of the account it is.</param>
/// <param name="Body">What the receiver gets.</param>
internal sealed record PendingEvent(string Receiver, string StreamId, PendingId Id, string Body);

/// <summary>An account whose events are being delivered to a receiver, by one service at a time.</summary>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Failures">How often its next event has failed.</param>
/// <param name="Events">The next events, in order.</param>
internal sealed record ClaimedAccount(string StreamId, int Failures, List<(PendingId Id, string Body)> Events);

/// <summary>Why a receiver did not take an event.</summary>
/// <param name="Reason">One of a few, as in <c>error.type</c>: a status, timeout, address, tls or connection.</param>
/// <param name="Text">What happened, for operators. It may quote the receiver.</param>
/// <param name="RetryAfter">How long the receiver wants not to be asked; null if it says nothing.</param>
/// <param name="IsGone">Whether the receiver wants no more events of the account.</param>
internal sealed record DeliveryFailure(string Reason, string Text, TimeSpan? RetryAfter = null, bool IsGone = false)
{
    private const int TextMax = 500;

    /// <summary>What happened, for operators, without control characters.</summary>
    public string Text { get; } = UntrustedText.Printable(Text, TextMax);
}

/// <summary>How a delivery ended.</summary>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Delivered">The events that the receiver has taken.</param>
/// <param name="Failure">Why it did not take the next one; null if it was not refused.</param>
/// <param name="Retry">After a failure, how long to wait.</param>
internal sealed record DeliveryOutcome(
    string StreamId, IReadOnlyList<PendingId> Delivered, DeliveryFailure? Failure, TimeSpan Retry);

/// <summary>What waits for a receiver.</summary>
/// <param name="Receiver">The receiver's name.</param>
/// <param name="Pending">The events that wait, parked ones included.</param>
/// <param name="OldestAge">Time since the oldest of them was taken over.</param>
/// <param name="ParkedAccounts">The accounts whose events are parked.</param>
public sealed record ReceiverState(string Receiver, long Pending, TimeSpan OldestAge, long ParkedAccounts);

/// <summary>An account whose events a receiver has not taken.</summary>
/// <param name="Receiver">The receiver's name.</param>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Pending">The events that wait.</param>
/// <param name="Failures">How often the first of them has failed.</param>
/// <param name="FailingFor">How long it has been failing.</param>
/// <param name="NextIn">When it is tried again; null if the account's events are parked.</param>
/// <param name="Failure">Why the receiver did not take it.</param>
public sealed record FailingAccount(
    string Receiver, string StreamId, long Pending, int Failures,
    TimeSpan FailingFor, TimeSpan? NextIn, string Failure);
