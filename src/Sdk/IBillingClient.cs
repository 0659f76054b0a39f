namespace Billing.Client;

/// <summary>The billing platform as its callers see it: <see cref="BillingClient"/> is the real one, and
/// <see cref="Testing.InMemoryBilling"/> one for tests. Safe from any thread.</summary>
public interface IBillingClient
{
    /// <summary>Charges an account.</summary>
    /// <param name="payment">Keep it until its outcome is known: asking again with it is always safe.</param>
    /// <param name="deadline">How long this may take, with all retries; null for what the options say.</param>
    /// <param name="cancellationToken">Gives up; the payment may or may not be recorded.</param>
    /// <returns>What became of it; a failure is <see cref="PaymentResult.Unknown"/>, not an exception.</returns>
    Task<PaymentResult> PayAsync(Payment payment, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Charges many accounts over one stream, which costs far less than a call for each. A bounded number is in hand at
    /// a time: whoever enumerates slowly is read for slowly.</summary>
    /// <param name="payments">Enumerated while the results are.</param>
    /// <param name="cancellationToken">Gives up; what has no result yet may or may not be recorded.</param>
    /// <returns>One result for each payment, in the order they come.</returns>
    /// <exception cref="BillingException">No proxy takes payments. What was in hand has had its result before; of the rest none was
    /// sent.</exception>
    IAsyncEnumerable<PaymentResult> PayAllAsync(IAsyncEnumerable<Payment> payments, CancellationToken cancellationToken = default);

    /// <summary>Reads what an account owes and what it may still spend.</summary>
    /// <param name="account">The account.</param>
    /// <param name="minVersion">The answer covers the account up to this version; 0 means any.</param>
    /// <param name="deadline">How long this may take, with all retries; null for what the options say.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BillingException">There is no answer.</exception>
    Task<AccountBalance> GetBalanceAsync(
        CardAccount account, long minVersion = 0, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Reads what happened to an account, in order.</summary>
    /// <param name="account">The account.</param>
    /// <param name="afterVersion">Leaves out what happened up to this version; 0 leaves out nothing.</param>
    /// <param name="limit">Lines at most; 0 means all.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BillingException">There is no answer, or no more of it.</exception>
    IAsyncEnumerable<StatementLine> ReadStatementAsync(
        CardAccount account, long afterVersion = 0, int limit = 0, CancellationToken cancellationToken = default);

    /// <summary>Sets what an account may owe at most. For operators.</summary>
    /// <param name="limit">Keep it until its outcome is known, as with a payment.</param>
    /// <param name="deadline">How long this may take, with all retries; null for what the options say.</param>
    /// <param name="cancellationToken">Gives up; the limit may or may not be set.</param>
    Task<CreditLimitResult> SetCreditLimitAsync(
        CreditLimit limit, TimeSpan? deadline = null, CancellationToken cancellationToken = default);
}
