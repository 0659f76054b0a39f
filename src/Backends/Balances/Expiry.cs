using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Backends.Balances;

/// <summary>Read commands whose deadline has passed: they are answered, so that their deliveries are settled, but not
/// processed.</summary>
internal static class Expiry
{
    public static bool IsExpired(Command command, long nowUnixUs) =>
        command.DeadlineUnixUs != 0 && command.DeadlineUnixUs <= nowUnixUs;

    public static Reply Reply(Command command) => Replies.Error(
        command.CorrelationId, StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired,
        "The deadline passed before the account was read.");
}
