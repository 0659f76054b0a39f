using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging;

/// <summary>Where a command goes: what changes an account to the write side, what reads it to the read side, each by the
/// account's payment type and id. What asks about a payment goes the payment's way, to come behind it.</summary>
/// <param name="IsWrite">Whether the command goes to the write side.</param>
/// <param name="PaymentType">The account's card network.</param>
/// <param name="AccountId">The account.</param>
public readonly record struct CommandRoute(bool IsWrite, PaymentType PaymentType, string AccountId)
{
    /// <summary>The route of a command.</summary>
    /// <exception cref="ArgumentException">The command holds no request.</exception>
    public static CommandRoute Of(Command command)
    {
        var kind = RequestKind.Of(command) ?? throw new ArgumentException("The command holds no request.", nameof(command));
        var (type, id) = kind.Account(command);
        return new CommandRoute(kind.IsWrite, type, id);
    }

    /// <summary>The request topic.</summary>
    public string Topic => IsWrite ? Topics.Payments(PaymentType) : Topics.Balances(PaymentType);

    /// <summary>The account's event stream.</summary>
    public string StreamId => Contracts.StreamId.For(PaymentType, AccountId);
}
