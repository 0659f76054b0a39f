using Billing.Wire.V1;

namespace Billing.Backends.Payments.InFlight;

/// <summary>What the callers of a command are answered.</summary>
internal abstract record CommandResult
{
    private CommandResult()
    {
    }

    /// <summary>An event is recorded under its transaction id.</summary>
    /// <param name="Event">The event.</param>
    /// <param name="StoredUnixUs">When it was committed, in microseconds since the Unix epoch;
    /// 0 if it had been recorded before this command.</param>
    public sealed record Recorded(Event Event, long StoredUnixUs) : CommandResult;

    /// <summary>No event is recorded for it; its callers get the error.</summary>
    public record Refused(Error Error) : CommandResult;

    /// <summary>It was not recorded before its deadline; its callers get the error.</summary>
    public sealed record Expired(Error Error) : Refused(Error);

    /// <summary>Its transaction id is closed: nothing will ever be recorded under it.
    /// Its callers get the error.</summary>
    public sealed record Closed(Error Error) : Refused(Error);

    /// <summary>It cannot be processed, and goes to the dead letters with the reason, which its
    /// callers do not get.</summary>
    public sealed record Rejected(Error Error, string Reason) : Refused(Error);
}
