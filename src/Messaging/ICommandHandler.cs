namespace Billing.Messaging;

/// <summary>The backend's side of a transport: takes commands as they come and settles each one later.</summary>
public interface ICommandHandler
{
    /// <summary>Commands taken and not yet settled. The transport stops handing over while this is at its bound.</summary>
    int InFlight { get; }

    /// <summary>Takes commands, in partition order. Never blocks; called from one thread at a time.</summary>
    void Accept(IReadOnlyList<Delivery> deliveries);

    /// <summary>Some partitions now belong to another backend: what is cached about their accounts may be stale.</summary>
    void Forget(IReadOnlyCollection<SourcePartition> partitions);
}
