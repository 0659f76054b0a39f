using Billing.Contracts;

namespace Billing.Measuring.Tracing;

/// <summary>The moments of a payment that a trace records, in the order in which they occur.</summary>
public enum Moment
{
    /// <summary>The payment was due to be sent at the constant rate.</summary>
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

    /// <summary>The event store's own timestamp of the event: the time at which the transaction that stored it began.
    /// It is not in the order of the others.</summary>
    Recorded,
}

/// <summary>One payment of a trace.</summary>
/// <param name="TransactionId">Its idempotency key.</param>
/// <param name="StreamId">The account's stream.</param>
/// <param name="Version">The version of its event in the stream; 0 if it was not answered.</param>
/// <param name="Outcome"><c>Accepted</c>, <c>Declined</c>, or the gRPC status of the failed call.</param>
public sealed record TracedPayment(Guid TransactionId, string StreamId, long Version, string Outcome)
{
    private readonly long[] _unixUs = new long[Enum.GetValues<Moment>().Length];

    /// <summary>Whether it was accepted or declined.</summary>
    public bool IsAnswered => Version > 0;

    /// <summary>A moment in microseconds since the Unix epoch; 0 if unknown.</summary>
    public long this[Moment step]
    {
        get => _unixUs[(int)step];
        set => _unixUs[(int)step] = value;
    }

    /// <summary>Whether a moment is known.</summary>
    public bool Has(Moment step) => this[step] > 0;

    /// <summary>Sets the moments from the step times of a timed payment.</summary>
    public void SetTimes(StepTimes times)
    {
        foreach (var (name, at) in times.Steps())
        {
            this[Enum.Parse<Moment>(name, ignoreCase: true)] = at is { } time ? UnixTime.Microseconds(time) : 0;
        }
    }

    /// <summary>Returns the milliseconds from one step to another. The broker's timestamp is in whole milliseconds,
    /// so it is limited to the interval between the step before and the step after.</summary>
    /// <returns>Null if one of the moments is unknown.</returns>
    public double? Milliseconds(Moment from, Moment to) =>
        Has(from) && Has(to) ? (Exact(to) - Exact(from)) / 1000.0 : null;

    private long Exact(Moment step) =>
        step == Moment.Appended && Has(Moment.Received) && this[Moment.Consumed] >= this[Moment.Received]
            ? Math.Clamp(this[Moment.Appended], this[Moment.Received], this[Moment.Consumed])
            : this[step];
}
