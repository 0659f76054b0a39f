using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

/// <summary>The destination of a command: commands that change an account go to the write side, queries to the read side, both
/// by the account's payment type and id. A query for the status of a payment goes to the write side, so that it is processed
/// after that payment.</summary>
/// <param name="IsWrite">Whether the command goes to the write side.</param>
/// <param name="PaymentType">The account's card network.</param>
/// <param name="AccountId">The account.</param>
public readonly record struct CommandRoute(bool IsWrite, PaymentType PaymentType, string AccountId)
{
    /// <summary>The route of a command.</summary>
    /// <exception cref="ArgumentException">The command holds no request.</exception>
    public static CommandRoute Of(Command command)
    {
        var kind = RequestKinds.Of(command) ?? throw new ArgumentException("The command holds no request.", nameof(command));
        return kind.RouteOf(command);
    }

    /// <summary>The account's event stream.</summary>
    public string StreamId => Contracts.StreamId.For(PaymentType, AccountId);
}
