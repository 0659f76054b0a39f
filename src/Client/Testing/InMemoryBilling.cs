using System.Runtime.CompilerServices;

namespace Billing.Client.Testing;

/// <summary>An in-memory billing platform for the tests of its callers: accounts, limits, declines, idempotency, versions and
/// statements by the same rules as the real one. A test can make it lose answers. Thread-safe.</summary>
/// <param name="creditLimit">The credit limit of accounts that have no limit of their own, in the currency of each account.
/// </param>
/// <param name="time">The clock; the system clock if null.</param>
public sealed class InMemoryBilling(decimal creditLimit = 10_000, TimeProvider? time = null) : IBillingClient, IBillingAdminClient
{
    private const string Lost = "The answer was lost, as requested with LoseNextAnswer.";

    private readonly decimal _creditLimit = creditLimit >= 0
        ? creditLimit
        : throw new ArgumentOutOfRangeException(nameof(creditLimit), creditLimit, "A credit limit is not negative.");

    private readonly TimeProvider _time = time ?? TimeProvider.System;
    private readonly Lock _gate = new();
    private readonly Dictionary<CardAccount, InMemoryAccount> _accounts = [];

    // The request and the result of each id of an account.
    private readonly Dictionary<(CardAccount, Guid), (object Request, object Result)> _receipts = [];

    private readonly Queue<bool> _lost = new();

    /// <summary>Makes the platform lose the answer to the next payment or limit, as when a proxy fails: its outcome is unknown.
    /// Each call adds one answer to lose.</summary>
    /// <param name="recorded">Whether the request is recorded; the caller cannot tell, and has to retry either way.</param>
    public void LoseNextAnswer(bool recorded)
    {
        lock (_gate)
        {
            _lost.Enqueue(recorded);
        }
    }

    /// <inheritdoc/>
    public Task<PaymentResult> PayAsync(Payment payment, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(payment);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer<PaymentResult>(
            (payment.Account, payment.Id), payment,
            () => AccountOf(payment.Account).Pay(payment, _time.GetUtcNow()),
            reused: new PaymentResult.Rejected(payment.Id, RejectionReason.IdReused, "", Reused(payment.Id)),
            lost: new PaymentResult.Unknown(payment.Id, "", Lost)));
    }

    /// <inheritdoc/>
    public async IAsyncEnumerable<PaymentResult> PayAllAsync(
        IAsyncEnumerable<Payment> payments, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(payments);
        await foreach (var payment in payments.WithCancellation(cancellationToken))
        {
            yield return await PayAsync(payment, cancellationToken: cancellationToken);
        }
    }

    /// <inheritdoc/>
    public Task<AccountBalance> GetBalanceAsync(
        CardAccount account, long minVersion = 0, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(minVersion);
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            var balance = AccountOf(account).BalanceAsOf(_time.GetUtcNow());
            return balance.Version >= minVersion
                ? Task.FromResult(balance)
                : Task.FromException<AccountBalance>(new BillingException(
                    RejectionReason.VersionNotReached, "min_version", $"min_version is {minVersion}; the account is at version {balance.Version}."));
        }
    }

    /// <inheritdoc/>
    public Task<FoundPayment?> FindPaymentAsync(
        CardAccount account, Guid id, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            return Task.FromResult(AccountOf(account).Find(id));
        }
    }

    /// <inheritdoc/>
    public async IAsyncEnumerable<StatementLine> ReadStatementAsync(
        CardAccount account, long afterVersion = 0, int limit = 0, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(afterVersion);
        ArgumentOutOfRangeException.ThrowIfNegative(limit);
        List<StatementLine> lines;
        lock (_gate)
        {
            lines = [.. AccountOf(account).Lines.Where(line => line.Version > afterVersion).Take(limit == 0 ? int.MaxValue : limit)];
        }
        foreach (var line in lines)
        {
            cancellationToken.ThrowIfCancellationRequested();
            yield return line;
        }
        await Task.CompletedTask;
    }

    /// <inheritdoc/>
    public Task<RefundResult> RefundAsync(Refund refund, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(refund);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer<RefundResult>(
            (refund.Account, refund.Id), refund,
            () => AccountOf(refund.Account).Refund(refund, _time.GetUtcNow()),
            reused: new RefundResult.Rejected(refund.Id, RejectionReason.IdReused, "", Reused(refund.Id)),
            lost: new RefundResult.Unknown(refund.Id, "", Lost)));
    }

    /// <inheritdoc/>
    public Task<CreditLimitResult> SetCreditLimitAsync(
        CreditLimit limit, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(limit);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer<CreditLimitResult>(
            (limit.Account, limit.Id), limit,
            () => AccountOf(limit.Account).Set(limit, _time.GetUtcNow()),
            reused: new CreditLimitResult.Rejected(limit.Id, RejectionReason.IdReused, "", Reused(limit.Id)),
            lost: new CreditLimitResult.Unknown(limit.Id, "", Lost)));
    }

    private static string Reused(Guid id) => $"The id {id} was already used for a different request.";

    private T Answer<T>((CardAccount, Guid) id, object request, Func<T> decide, T reused, T lost)
        where T : class
    {
        lock (_gate)
        {
            var isLost = _lost.TryDequeue(out var recorded);
            if (isLost && !recorded)
            {
                return lost;
            }
            var result = AnswerOnce(id, request, decide, reused);
            return isLost ? lost : result;
        }
    }

    private T AnswerOnce<T>((CardAccount, Guid) id, object request, Func<T> decide, T reused)
        where T : class
    {
        if (_receipts.TryGetValue(id, out var receipt))
        {
            return receipt.Request.Equals(request) ? (T)receipt.Result : reused;
        }
        var result = decide();
        // Rejected requests are not recorded, so their ids can be used again.
        if (result is not (CreditLimitResult.Rejected or RefundResult.Rejected))
        {
            _receipts[id] = (request, result);
        }
        return result;
    }

    private InMemoryAccount AccountOf(CardAccount account)
    {
        if (!_accounts.TryGetValue(account, out var found))
        {
            _accounts[account] = found = new InMemoryAccount(_creditLimit);
        }
        return found;
    }
}
