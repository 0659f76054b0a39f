using Billing.Wire.V1;

namespace Billing.Backends.Payments;

/// <summary>What a command ends with.</summary>
public abstract record CommandResult
{
    private CommandResult()
    {
    }

    /// <summary>An event is recorded under its transaction id.</summary>
    /// <param name="Event">The event.</param>
    /// <param name="StoredUnixUs">When it was committed, in microseconds since the Unix epoch; 0 if it had been recorded before
    /// this command.</param>
    public sealed record Recorded(Event Event, long StoredUnixUs) : CommandResult;

    /// <summary>No event is recorded for it.</summary>
    /// <param name="Error">The error for its callers.</param>
    public sealed record Refused(Error Error) : CommandResult;

    /// <summary>It cannot be processed, and goes to the dead letters.</summary>
    /// <param name="Error">The error for its callers.</param>
    /// <param name="Reason">The reason, for the operators.</param>
    public sealed record Rejected(Error Error, string Reason) : CommandResult;

    /// <summary>It is left to the next owner of its partition: neither recorded nor answered here.</summary>
    public sealed record Abandoned : CommandResult;
}
