using Billing.Backends.Payments.InFlight;
using Billing.Wire.V1;

namespace Billing.UnitTests.Backends.Payments;

/// <summary>Reads the results of commands.</summary>
internal static class CommandResults
{
    /// <summary>The event that is recorded for a command; null if there is none.</summary>
    public static Event? Event(this PendingCommand command) => (command.Result as CommandResult.Recorded)?.Event;
}
