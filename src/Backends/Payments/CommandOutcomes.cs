using Billing.Backends.Telemetry;
using Billing.Wire.V1;

namespace Billing.Backends.Payments;

/// <summary>Counts the outcomes of a batch of commands, with one update of each metric.</summary>
internal static class CommandOutcomes
{
    /// <summary>Counts commands that have their result.</summary>
    public static void Count(IReadOnlyList<PendingCommand> done)
    {
        var (accepted, declined, limits, refused, failed) = (0, 0, 0, 0, 0);
        foreach (var command in done)
        {
            switch (command.Result)
            {
                case null or CommandResult.Abandoned:
                    break;
                case CommandResult.Rejected:
                    failed++;
                    break;
                case CommandResult.Refused:
                    refused++;
                    break;
                case CommandResult.Recorded { Event.FactCase: Event.FactOneofCase.PaymentAccepted }:
                    accepted++;
                    break;
                case CommandResult.Recorded { Event.FactCase: Event.FactOneofCase.PaymentDeclined }:
                    declined++;
                    break;
                default:
                    limits++;
                    break;
            }
        }
        BackendMetrics.Ended(BackendMetrics.Outcomes.Accepted, accepted);
        BackendMetrics.Ended(BackendMetrics.Outcomes.Declined, declined);
        BackendMetrics.Ended(BackendMetrics.Outcomes.LimitChanged, limits);
        BackendMetrics.Ended(BackendMetrics.Outcomes.Refused, refused);
        BackendMetrics.Ended(BackendMetrics.Outcomes.Failed, failed);
    }
}
