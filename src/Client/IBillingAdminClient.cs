namespace Billing.Client;

/// <summary>The operations of operators: <see cref="BillingAdminClient"/> calls the real platform, <see cref="Testing.InMemoryBilling"/>
/// replaces it in tests. Thread-safe.</summary>
public interface IBillingAdminClient
{
    /// <summary>Sets the credit limit of an account.</summary>
    /// <param name="limit">Keep it until its outcome is known, as with a payment.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the limit may or may not be set.</param>
    Task<CreditLimitResult> SetCreditLimitAsync(
        CreditLimit limit, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Freezes, closes or reopens an account.</summary>
    /// <param name="change">Keep it until its outcome is known, as with a payment.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the status may or may not be changed.</param>
    Task<AccountStatusResult> SetAccountStatusAsync(
        AccountStatusChange change, TimeSpan? deadline = null, CancellationToken cancellationToken = default);
}
