namespace Billing.Webhooks;

/// <summary>What is not delivered yet, and who is delivering it. Thread-safe.</summary>
internal interface IPendingEvents
{
    /// <summary>Creates the tables that are missing.</summary>
    Task EnsureAsync(CancellationToken cancellationToken);

    /// <summary>Adds events that are not there yet, and their accounts, in one transaction.</summary>
    Task AddAsync(IReadOnlyList<PendingEvent> events, CancellationToken cancellationToken);

    /// <summary>Claims accounts whose events are due, those that have waited longest first,
    /// until the lease ends.</summary>
    Task<List<ClaimedAccount>> ClaimAsync(
        string receiver, Guid claim, TimeSpan lease, int limit, CancellationToken cancellationToken);

    /// <summary>Records how deliveries ended, in one transaction, and ends their claims. What was delivered is deleted
    /// in any case; for the rest, an account that another service has claimed by now is left to it.</summary>
    /// <returns>The accounts whose events are parked from now on.</returns>
    Task<List<string>> SettleAsync(
        string receiver, Guid claim, IReadOnlyList<DeliveryOutcome> outcomes, CancellationToken cancellationToken);

    /// <summary>What waits for each receiver for which anything does.</summary>
    Task<IReadOnlyList<ReceiverState>> StatesAsync(CancellationToken cancellationToken);
}
