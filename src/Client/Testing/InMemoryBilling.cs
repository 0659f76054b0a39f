using System.Globalization;
using System.Runtime.CompilerServices;
using Billing.Contracts;

namespace Billing.Client.Testing;

/// <summary>An in-memory billing platform for the tests of its callers: accounts, limits, holds, declines, idempotency, versions
/// and statements by the same rules as the real one. A test can make it lose answers. Thread-safe.</summary>
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

    /// <summary>Makes the platform lose the answer to the next payment, limit or other change, as when a proxy fails: its outcome is unknown.
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
            payment.Account, payment.Id, payment,
            (account, now) => account.Pay(payment, now),
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
            var (found, now) = AccountOf(account);
            var balance = found.BalanceAsOf(now);
            return balance.Version >= minVersion
                ? Task.FromResult(balance)
                : Task.FromException<AccountBalance>(new BillingException(
                    RejectionReason.VersionNotReached, "min_version", $"min_version is {minVersion}; the account is at version {balance.Version}."));
        }
    }

    /// <inheritdoc/>
    public Task<FormerBalance> GetBalanceAtAsync(
        CardAccount account, long version, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(version);
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            var found = AccountOf(account).Account;
            return version <= found.Lines.Count
                ? Task.FromResult(found.BalanceAt((int)version))
                : Task.FromException<FormerBalance>(new BillingException(
                    RejectionReason.VersionNotReached, "version", $"version is {version}; the account is at version {found.Lines.Count}."));
        }
    }

    /// <inheritdoc/>
    public Task<FormerBalance> GetBalanceAtAsync(
        CardAccount account, DateTimeOffset time, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            var found = AccountOf(account).Account;
            return Task.FromResult(found.BalanceAt((int)(found.Lines.LastOrDefault(line => line.DecidedAt <= time)?.Version ?? 0)));
        }
    }

    /// <inheritdoc/>
    public IAsyncEnumerable<StatementLine> ReadStatementAsync(
        CardAccount account, StatementFilter filter, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentNullException.ThrowIfNull(filter);
        return StatementPage.ReadAllAsync(
            token => ListStatementAsync(account, filter, StatementPage.SizeMax, token, cancellationToken: cancellationToken), cancellationToken);
    }

    /// <inheritdoc/>
    public Task<StatementPage> ListStatementAsync(
        CardAccount account, StatementFilter? filter = null, int pageSize = 0, string? pageToken = null, TimeSpan? deadline = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(pageSize);
        cancellationToken.ThrowIfCancellationRequested();
        filter ??= new StatementFilter();
        // A token is the version that its page goes on after, and the request that it is of.
        var query = filter.Request(account, 0, null).ToString();
        var after = 0L;
        if ((FieldRules.Check(filter.Request(account, pageSize, pageToken)) ?? Read(pageToken, query, out after)) is { } violation)
        {
            return Task.FromException<StatementPage>(new BillingException(RejectionReason.InvalidField, violation.Field, violation.ToString()));
        }
        lock (_gate)
        {
            var size = pageSize == 0 ? StatementPage.SizeDefault : Math.Min(pageSize, StatementPage.SizeMax);
            List<StatementLine> lines =
            [
                .. AccountOf(account).Account.Lines.Where(line => line.Version > after
                    && !(line.DecidedAt < filter.From) && !(line.DecidedAt >= filter.Before)
                    && (filter.Types.Count == 0 || filter.Types.Contains(line.Type))).Take(size + 1),
            ];
            return Task.FromResult(lines.Count <= size
                ? new StatementPage(lines, null)
                : new StatementPage(lines[..size], $"{lines[size - 1].Version} {query}"));
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
            return Task.FromResult(AccountOf(account).Account.Find(id));
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
            lines = [.. AccountOf(account).Account.Lines.Where(line => line.Version > afterVersion).Take(limit == 0 ? int.MaxValue : limit)];
        }
        foreach (var line in lines)
        {
            cancellationToken.ThrowIfCancellationRequested();
            yield return line;
        }
        await Task.CompletedTask;
    }

    /// <inheritdoc/>
    public Task<HoldResult> AuthoriseAsync(Hold hold, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(hold);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer<HoldResult>(
            hold.Account, hold.Id, (hold.Amount, hold.Duration, hold.Notes),
            (account, now) => account.Authorise(hold, now),
            reused: new HoldResult.Rejected(hold.Id, RejectionReason.IdReused, "", Reused(hold.Id)),
            lost: new HoldResult.Unknown(hold.Id, "", Lost)));
    }

    /// <inheritdoc/>
    public Task<CaptureResult> CaptureAsync(Capture capture, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(capture);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer<CaptureResult>(
            capture.Account, capture.Id, capture,
            (account, now) => account.Capture(capture, now),
            reused: new CaptureResult.Rejected(capture.Id, RejectionReason.IdReused, "", Reused(capture.Id)),
            lost: new CaptureResult.Unknown(capture.Id, "", Lost)));
    }

    /// <inheritdoc/>
    public Task<HoldVoidResult> VoidAsync(HoldVoid request, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer<HoldVoidResult>(
            request.Account, request.Id, request,
            (account, now) => account.Void(request, now),
            reused: new HoldVoidResult.Rejected(request.Id, RejectionReason.IdReused, "", Reused(request.Id)),
            lost: new HoldVoidResult.Unknown(request.Id, "", Lost)));
    }

    /// <inheritdoc/>
    public Task<RefundResult> RefundAsync(Refund refund, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(refund);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer<RefundResult>(
            refund.Account, refund.Id, refund,
            (account, now) => account.Refund(refund, now),
            reused: new RefundResult.Rejected(refund.Id, RejectionReason.IdReused, "", Reused(refund.Id)),
            lost: new RefundResult.Unknown(refund.Id, "", Lost)));
    }

    /// <inheritdoc/>
    public Task<CreditLimitResult> SetCreditLimitAsync(CreditLimit limit, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(limit);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer<CreditLimitResult>(
            limit.Account, limit.Id, limit,
            (account, now) => account.Set(limit, now),
            reused: new CreditLimitResult.Rejected(limit.Id, RejectionReason.IdReused, "", Reused(limit.Id)),
            lost: new CreditLimitResult.Unknown(limit.Id, "", Lost)));
    }

    /// <inheritdoc/>
    public Task<AccountStatusResult> SetAccountStatusAsync(
        AccountStatusChange change, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(change);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer<AccountStatusResult>(
            change.Account, change.Id, change,
            (account, now) => account.Set(change, now),
            reused: new AccountStatusResult.Rejected(change.Id, RejectionReason.IdReused, "", Reused(change.Id)),
            lost: new AccountStatusResult.Unknown(change.Id, "", Lost)));
    }

    private static FieldViolation? Read(string? pageToken, string query, out long after)
    {
        after = 0;
        return string.IsNullOrEmpty(pageToken)
            || (pageToken.Split(' ', 2) is [var version, var of] && of == query && long.TryParse(version, CultureInfo.InvariantCulture, out after))
            ? null
            : new FieldViolation("page_token", "must be the token of a page of the same account and filter");
    }

    private static string Reused(Guid id) => $"The id {id} was already used for a different request.";

    private T Answer<T>(CardAccount account, Guid id, object request, Func<InMemoryAccount, DateTimeOffset, T> decide, T reused, T lost)
        where T : class
    {
        lock (_gate)
        {
            var isLost = _lost.TryDequeue(out var recorded);
            if (isLost && !recorded)
            {
                return lost;
            }
            var result = AnswerOnce(account, id, request, decide, reused);
            return isLost ? lost : result;
        }
    }

    private T AnswerOnce<T>(CardAccount account, Guid id, object request, Func<InMemoryAccount, DateTimeOffset, T> decide, T reused)
        where T : class
    {
        var (found, now) = AccountOf(account);
        if (_receipts.TryGetValue((account, id), out var receipt))
        {
            return receipt.Request.Equals(request) ? (T)receipt.Result : reused;
        }
        var result = decide(found, now);
        // Rejected requests are not recorded, so their ids can be used again.
        if (result.GetType() != reused.GetType())
        {
            _receipts[(account, id)] = (request, result);
        }
        return result;
    }

    // The account as of now, which it returns too: what was on hold until then is not any more.
    private (InMemoryAccount Account, DateTimeOffset Now) AccountOf(CardAccount account)
    {
        if (!_accounts.TryGetValue(account, out var found))
        {
            _accounts[account] = found = new InMemoryAccount(_creditLimit);
        }
        var now = _time.GetUtcNow();
        found.Expire(now);
        return (found, now);
    }
}
