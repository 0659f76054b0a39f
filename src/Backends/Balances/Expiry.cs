using Billing.Contracts;
using Billing.Messaging;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Backends.Balances;

/// <summary>Commands that read and whose caller has stopped waiting: they are answered, so that the transport forgets them,
/// and not worked on.</summary>
internal static class Expiry
{
    public static bool IsExpired(Command command, long nowUnixUs) =>
        command.DeadlineUnixUs != 0 && command.DeadlineUnixUs <= nowUnixUs;

    public static Reply Reply(Command command) => Replies.Error(
        command.CorrelationId, StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired,
        "The deadline passed before the account was read.");
}
