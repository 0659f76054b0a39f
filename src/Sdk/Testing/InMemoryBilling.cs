using System.Runtime.CompilerServices;

namespace Billing.Client.Testing;

/// <summary>A billing platform in memory, for the tests of programs that call one: accounts, limits, declines, ids that are
/// charged once, versions and statements, by the same rules; and answers that get lost when a test says so. Safe from any
/// thread.</summary>
/// <param name="creditLimit">What an account may owe before a limit of its own is set, in whatever its currency will be.</param>
/// <param name="time">The clock; the system's if null.</param>
public sealed class InMemoryBilling(decimal creditLimit = 10_000, TimeProvider? time = null) : IBillingClient
{
    private readonly decimal _creditLimit = creditLimit >= 0
        ? creditLimit
        : throw new ArgumentOutOfRangeException(nameof(creditLimit), creditLimit, "A credit limit is not negative.");

    private readonly TimeProvider _time = time ?? TimeProvider.System;
    private readonly Lock _gate = new();
    private readonly Dictionary<CardAccount, InMemoryAccount> _accounts = [];

    // What was asked with an id, and what was answered.
    private readonly Dictionary<Guid, (object Request, object Result)> _receipts = [];

    private readonly Queue<bool> _lost = new();

    /// <summary>The answer to the next payment or limit gets lost, as when a proxy dies: its outcome is unknown. Called twice, so
    /// do the next two.</summary>
    /// <param name="recorded">Whether it was recorded before; a caller cannot tell, and has to ask again either way.</param>
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
            payment.Id, payment,
            () => AccountOf(payment.Account).Pay(payment, _time.GetUtcNow()),
            (reason, message) => new PaymentResult.Rejected(payment.Id, reason, "", message),
            (reason, message) => new PaymentResult.Unknown(payment.Id, reason, message)));
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
    public Task<CreditLimitResult> SetCreditLimitAsync(
        CreditLimit limit, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(limit);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer<CreditLimitResult>(
            limit.Id, limit,
            () => AccountOf(limit.Account).Set(limit, _time.GetUtcNow()),
            (reason, message) => new CreditLimitResult.Rejected(limit.Id, reason, "", message),
            (reason, message) => new CreditLimitResult.Unknown(limit.Id, reason, message)));
    }

    private T Answer<T>(Guid id, object request, Func<T> decide, Func<RejectionReason, string, T> reject, Func<string, string, T> lose)
        where T : class
    {
        lock (_gate)
        {
            var isLost = _lost.TryDequeue(out var recorded);
            if (isLost && !recorded)
            {
                return lose("", "The answer is lost, as the test wants it.");
            }
            var result = AnswerOnce(id, request, decide)
                ?? reject(RejectionReason.IdReused, $"The id {id} was used before for something else.");
            return isLost ? lose("", "The answer is lost, as the test wants it.") : result;
        }
    }

    /// <returns>Null where the id was used for something else.</returns>
    private T? AnswerOnce<T>(Guid id, object request, Func<T> decide)
        where T : class
    {
        if (_receipts.TryGetValue(id, out var receipt))
        {
            return receipt.Request.Equals(request) ? (T)receipt.Result : null;
        }
        var result = decide();
        // What is not recorded leaves its id free.
        if (result is not CreditLimitResult.Rejected)
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
