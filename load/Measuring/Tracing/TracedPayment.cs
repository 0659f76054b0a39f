using Billing.Contracts;

namespace Billing.Measuring.Tracing;

/// <summary>A moment in the life of a payment that a trace holds; in the order in which they come.</summary>
public enum Moment
{
    /// <summary>It was due to be sent, at a constant rate.</summary>
    Planned,

    /// <inheritdoc cref="StepTimes.Sent"/>
    Sent,

    /// <inheritdoc cref="StepTimes.Received"/>
    Received,

    /// <inheritdoc cref="StepTimes.Appended"/>
    Appended,

    /// <inheritdoc cref="StepTimes.Consumed"/>
    Consumed,

    /// <inheritdoc cref="StepTimes.Decided"/>
    Decided,

    /// <inheritdoc cref="StepTimes.Stored"/>
    Stored,

    /// <inheritdoc cref="StepTimes.Replied"/>
    Replied,

    /// <inheritdoc cref="StepTimes.Answered"/>
    Answered,

    /// <inheritdoc cref="StepTimes.Returned"/>
    Returned,

    /// <summary>The event store's own timestamp of its event: when the transaction began that stored it. Not in the order of
    /// the others.</summary>
    Recorded,
}

/// <summary>One payment of a trace.</summary>
/// <param name="TransactionId">Its idempotency key.</param>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Version">The version of the stream that records it; 0 where no answer came.</param>
/// <param name="Outcome"><c>Accepted</c>, <c>Declined</c>, or the gRPC status that came instead of an answer.</param>
public sealed record TracedPayment(Guid TransactionId, string StreamId, long Version, string Outcome)
{
    private readonly long[] _unixUs = new long[Enum.GetValues<Moment>().Length];

    /// <summary>Whether it was accepted or declined.</summary>
    public bool IsAnswered => Version > 0;

    /// <summary>A moment in microseconds since the Unix epoch; 0 where it is not known.</summary>
    public long this[Moment step]
    {
        get => _unixUs[(int)step];
        set => _unixUs[(int)step] = value;
    }

    /// <summary>Whether a moment is known.</summary>
    public bool Has(Moment step) => this[step] > 0;

    /// <summary>Takes over the moments of a timed payment.</summary>
    public void Take(StepTimes times)
    {
        foreach (var (name, at) in times.Steps())
        {
            this[Enum.Parse<Moment>(name, ignoreCase: true)] = at is { } time ? UnixTime.Microseconds(time) : 0;
        }
    }

    /// <summary>The milliseconds from one step to another. The broker states its own moment in whole milliseconds: it is
    /// taken to be no earlier than the step before it and no later than the one after.</summary>
    /// <returns>Null where one of the moments is not known.</returns>
    public double? Milliseconds(Moment from, Moment to) =>
        Has(from) && Has(to) ? (Exact(to) - Exact(from)) / 1000.0 : null;

    private long Exact(Moment step) => step == Moment.Appended && Has(Moment.Received) && this[Moment.Consumed] >= this[Moment.Received]
        ? Math.Clamp(this[Moment.Appended], this[Moment.Received], this[Moment.Consumed])
        : this[step];
}
