namespace Billing.Client;

/// <summary>The operations of the billing platform: <see cref="BillingClient"/> calls the real platform,
/// <see cref="Testing.InMemoryBilling"/> replaces it in tests. Thread-safe.</summary>
public interface IBillingClient
{
    /// <summary>Charges an account.</summary>
    /// <param name="payment">Keep it until its outcome is known: a retry with it is always safe.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the payment may or may not be recorded.</param>
    /// <returns>The outcome; a failure is <see cref="PaymentResult.Unknown"/>, not an exception.</returns>
    Task<PaymentResult> PayAsync(Payment payment, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Charges many accounts over one stream, which costs far less than one call per payment. The number of payments in
    /// flight is limited: payments are read only as fast as the results are enumerated.</summary>
    /// <param name="payments">Enumerated while the results are enumerated.</param>
    /// <param name="cancellationToken">Cancels the run; payments without a result may or may not be recorded.</param>
    /// <returns>One result for each payment, in the order of arrival.</returns>
    /// <exception cref="BillingException">No proxy accepts the stream. The payments in flight have had their results before; none
    /// of the remaining ones was sent.</exception>
    IAsyncEnumerable<PaymentResult> PayAllAsync(IAsyncEnumerable<Payment> payments, CancellationToken cancellationToken = default);

    /// <summary>Reads the balance and the available credit of an account.</summary>
    /// <param name="account">The account.</param>
    /// <param name="minVersion">The minimum version of the account that the answer must include; 0 means any.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed.</exception>
    Task<AccountBalance> GetBalanceAsync(
        CardAccount account, long minVersion = 0, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Reads the balance and the available credit of an account as they were after one of its events.</summary>
    /// <param name="account">The account.</param>
    /// <param name="version">The event's version; 0 for before all events.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed, with <see cref="RejectionReason.VersionNotReached"/> if the account has no such
    /// version.</exception>
    Task<FormerBalance> GetBalanceAtAsync(
        CardAccount account, long version, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Reads the balance and the available credit of an account as they were at a time: after the last event that was decided at or
    /// before it, or before all events. An event that is decided and not stored yet is not there yet, so for a time that has just been, or is to
    /// come, a later answer may be another one.</summary>
    /// <param name="account">The account.</param>
    /// <param name="time">The time.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed.</exception>
    Task<FormerBalance> GetBalanceAtAsync(
        CardAccount account, DateTimeOffset time, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Puts an amount on hold: it lowers the available credit, and not the balance, until it is captured, voided or expired.</summary>
    /// <param name="hold">Keep it until its outcome is known: a retry with it is always safe.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the hold may or may not be recorded.</param>
    /// <returns>The outcome; a failure is <see cref="HoldResult.Unknown"/>, not an exception.</returns>
    Task<HoldResult> AuthoriseAsync(Hold hold, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Charges what is on hold, whole or in part, at once or several times.</summary>
    /// <param name="capture">Keep it until its outcome is known: a retry with it is always safe.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the capture may or may not be recorded.</param>
    /// <returns>The outcome; a failure is <see cref="CaptureResult.Unknown"/>, not an exception.</returns>
    Task<CaptureResult> CaptureAsync(Capture capture, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Releases what is still on hold.</summary>
    /// <param name="request">Keep it until its outcome is known: a retry with it is always safe.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; it may or may not be recorded.</param>
    /// <returns>The outcome; a failure is <see cref="HoldVoidResult.Unknown"/>, not an exception.</returns>
    Task<HoldVoidResult> VoidAsync(HoldVoid request, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Gives back a payment, whole or in part.</summary>
    /// <param name="refund">Keep it until its outcome is known: a retry with it is always safe.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the refund may or may not be recorded.</param>
    /// <returns>The outcome; a failure is <see cref="RefundResult.Unknown"/>, not an exception.</returns>
    Task<RefundResult> RefundAsync(Refund refund, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Finds a payment by its id.</summary>
    /// <param name="account">The payment's account.</param>
    /// <param name="id">The payment's id.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <returns>The payment with what has become of it; null if there is none. A payment whose outcome is
    /// <see cref="PaymentResult.Unknown"/> may still be recorded then.</returns>
    /// <exception cref="BillingException">The call failed.</exception>
    Task<FoundPayment?> FindPaymentAsync(
        CardAccount account, Guid id, TimeSpan? deadline = null, CancellationToken cancellationToken = default);

    /// <summary>Reads the statement of an account, in order.</summary>
    /// <param name="account">The account.</param>
    /// <param name="afterVersion">Starts after this version; 0 starts at the beginning.</param>
    /// <param name="limit">Maximum number of lines; 0 means all.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed, possibly after some lines.</exception>
    IAsyncEnumerable<StatementLine> ReadStatementAsync(
        CardAccount account, long afterVersion = 0, int limit = 0, CancellationToken cancellationToken = default);

    /// <summary>Reads some lines of the statement of an account, in order, page by page.</summary>
    /// <param name="account">The account.</param>
    /// <param name="filter">Which lines.</param>
    /// <param name="cancellationToken">Cancels the calls.</param>
    /// <exception cref="BillingException">A call failed, possibly after some lines.</exception>
    IAsyncEnumerable<StatementLine> ReadStatementAsync(
        CardAccount account, StatementFilter filter, CancellationToken cancellationToken = default);

    /// <summary>Reads a page of the statement of an account.</summary>
    /// <param name="account">The account.</param>
    /// <param name="filter">Which lines; null for all.</param>
    /// <param name="pageSize">Maximum number of lines; 0 for 100, and no more than 1000.</param>
    /// <param name="pageToken">The <see cref="StatementPage.NextPageToken"/> of the page before, which was read with the same account and
    /// filter; null for the first page.</param>
    /// <param name="deadline">The deadline, including all retries; null for <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed, with the field <c>page_token</c> if the token is of another account or filter.</exception>
    Task<StatementPage> ListStatementAsync(
        CardAccount account, StatementFilter? filter = null, int pageSize = 0, string? pageToken = null, TimeSpan? deadline = null,
        CancellationToken cancellationToken = default);
}
