namespace Billing.Messaging;

/// <summary>The backend's side of a transport: accepts commands and settles each one later.</summary>
public interface ICommandHandler
{
    /// <summary>Number of commands accepted and not yet settled. The transport hands over no more while
    /// this is at its limit.</summary>
    int InFlight { get; }

    /// <summary>Accepts commands, in partition order. Never blocks; called from one thread at a time.</summary>
    void Accept(IReadOnlyList<Delivery> deliveries);
}
