using System.Globalization;
using System.Runtime.CompilerServices;
using Billing.Contracts;

namespace Billing.Client.Testing;

/// <summary>An in-memory billing platform for the tests of its callers: accounts, limits, holds, declines, idempotency,
/// versions and statements by the same rules as the real one. A test can make it lose answers. What it is given as is a
/// <see cref="BillingClient"/>; the operators' part is <see cref="Admin"/>. Thread-safe.</summary>
public sealed class InMemoryBilling : BillingClient
{
    private readonly decimal _creditLimit;
    private readonly TimeProvider _time;
    private readonly Lock _gate = new();
    private readonly Dictionary<CardAccount, InMemoryAccount> _accounts = [];

    // The request and the result of each id of an account.
    private readonly Dictionary<(CardAccount, Guid), (object Request, object Result)> _receipts = [];

    private readonly Queue<bool> _lost = new();

    /// <summary>Creates a platform without accounts.</summary>
    /// <param name="creditLimit">The credit limit of accounts that have no limit of their own, in the currency of each
    /// account; zero or more.</param>
    /// <param name="time">The clock; the system clock if null.</param>
    /// <exception cref="ArgumentOutOfRangeException">The limit is negative.</exception>
    public InMemoryBilling(decimal creditLimit = 10_000, TimeProvider? time = null)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(creditLimit);
        (_creditLimit, _time) = (creditLimit, time ?? TimeProvider.System);
        Admin = new InMemoryAdmin(this);
    }

    /// <summary>The operators' part of this platform.</summary>
    public BillingAdminClient Admin { get; }

    /// <summary>Always zero: nothing fails on the way.</summary>
    public override long Retried => 0;

    /// <summary>Makes the platform lose the answer to the next payment, limit or other change, as when a proxy fails:
    /// its outcome is unknown. Each call adds one answer to lose.</summary>
    /// <param name="recorded">Whether the request is recorded; the caller cannot tell, and has to
    /// retry either way.</param>
    public void LoseNextAnswer(bool recorded)
    {
        lock (_gate)
        {
            _lost.Enqueue(recorded);
        }
    }

    /// <inheritdoc/>
    public override Task<Outcome<PaymentAnswer>> PayAsync(
        Payment payment, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(payment);
        BillingClientOptions.CheckDeadline(deadline);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(
            Answer(payment.Account, payment.Id, payment, (account, now) => account.Pay(payment, now)));
    }

    /// <inheritdoc/>
    public override async IAsyncEnumerable<Outcome<PaymentAnswer>> PayAllAsync(
        IAsyncEnumerable<Payment> payments, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(payments);
        await foreach (var payment in payments.WithCancellation(cancellationToken).ConfigureAwait(false))
        {
            yield return await PayAsync(payment, cancellationToken: cancellationToken).ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    public override Task<AccountBalance> GetBalanceAsync(
        CardAccount account, long minVersion = 0, TimeSpan? deadline = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(minVersion);
        BillingClientOptions.CheckDeadline(deadline);
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            var (found, now) = AccountOf(account);
            var balance = found.BalanceAsOf(now);
            return balance.Version >= minVersion
                ? Task.FromResult(balance)
                : Task.FromException<AccountBalance>(new BillingException(
                    RejectionReason.VersionNotReached, ErrorReasons.VersionNotReached, "min_version",
                    $"min_version is {minVersion}; the account is at version {balance.Version}."));
        }
    }

    /// <inheritdoc/>
    public override Task<PastBalance> GetBalanceAtAsync(
        CardAccount account, long version, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(version);
        BillingClientOptions.CheckDeadline(deadline);
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            var found = AccountOf(account).Account;
            return version <= found.Lines.Count
                ? Task.FromResult(found.BalanceAt((int)version))
                : Task.FromException<PastBalance>(new BillingException(
                    RejectionReason.VersionNotReached, ErrorReasons.VersionNotReached, "version",
                    $"version is {version}; the account is at version {found.Lines.Count}."));
        }
    }

    /// <inheritdoc/>
    public override Task<PastBalance> GetBalanceAtAsync(
        CardAccount account, DateTimeOffset time, TimeSpan? deadline = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        BillingClientOptions.CheckDeadline(deadline);
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            var found = AccountOf(account).Account;
            return Task.FromResult(
                found.BalanceAt((int)(found.Lines.LastOrDefault(line => line.DecidedAt <= time)?.Version ?? 0)));
        }
    }

    /// <inheritdoc/>
    public override IAsyncEnumerable<StatementLine> ReadStatementAsync(
        CardAccount account, StatementFilter filter, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentNullException.ThrowIfNull(filter);
        return ReadAsync(account, filter, 0, int.MaxValue, cancellationToken);
    }

    /// <inheritdoc/>
    public override Task<StatementPage> GetStatementPageAsync(
        CardAccount account, StatementFilter? filter = null, int pageSize = 0, string? pageToken = null,
        TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(pageSize);
        BillingClientOptions.CheckDeadline(deadline);
        cancellationToken.ThrowIfCancellationRequested();
        filter ??= new StatementFilter();
        // A token is the version that its page goes on after, and the request that it is of.
        var query = filter.Request(account, 0, null).ToString();
        var after = 0L;
        if ((FieldRules.Check(filter.Request(account, pageSize, pageToken))
            ?? Read(pageToken, query, out after)) is { } violation)
        {
            return Task.FromException<StatementPage>(Invalid(violation));
        }
        lock (_gate)
        {
            var size = pageSize == 0 ? StatementPage.SizeDefault : Math.Min(pageSize, StatementPage.SizeMax);
            List<StatementLine> lines =
            [
                .. AccountOf(account).Account.Lines.Where(line => line.Version > after && filter.Selects(line))
                    .Take(size + 1),
            ];
            return Task.FromResult(lines.Count <= size
                ? new StatementPage(lines, null)
                : new StatementPage(lines[..size], $"{lines[size - 1].Version} {query}"));
        }
    }

    /// <inheritdoc/>
    public override Task<FoundTransaction?> FindTransactionAsync(
        CardAccount account, Guid id, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        BillingClientOptions.CheckDeadline(deadline);
        cancellationToken.ThrowIfCancellationRequested();
        lock (_gate)
        {
            return Task.FromResult(AccountOf(account).Account.Find(id));
        }
    }

    /// <inheritdoc/>
    public override IAsyncEnumerable<StatementLine> ReadStatementAsync(
        CardAccount account, long afterVersion = 0, int limit = 0, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(afterVersion);
        ArgumentOutOfRangeException.ThrowIfNegative(limit);
        return ReadAsync(
            account, new StatementFilter(), afterVersion, limit == 0 ? int.MaxValue : limit, cancellationToken);
    }

    /// <inheritdoc/>
    public override Task<Outcome<HoldAnswer>> AuthoriseAsync(
        Hold hold, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(hold);
        BillingClientOptions.CheckDeadline(deadline);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(Answer(
            hold.Account, hold.Id, (hold.Amount, hold.Duration, hold.Notes),
            (account, now) => account.Authorise(hold, now)));
    }

    /// <inheritdoc/>
    public override Task<Outcome<CaptureAnswer>> CaptureAsync(
        Capture capture, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(capture);
        BillingClientOptions.CheckDeadline(deadline);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(
            Answer(capture.Account, capture.Id, capture, (account, now) => account.Capture(capture, now)));
    }

    /// <inheritdoc/>
    public override Task<Outcome<HoldVoidAnswer>> VoidAsync(
        HoldVoid request, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        BillingClientOptions.CheckDeadline(deadline);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(
            Answer(request.Account, request.Id, request, (account, now) => account.Void(request, now)));
    }

    /// <inheritdoc/>
    public override Task<Outcome<RefundAnswer>> RefundAsync(
        Refund refund, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(refund);
        BillingClientOptions.CheckDeadline(deadline);
        cancellationToken.ThrowIfCancellationRequested();
        return Task.FromResult(
            Answer(refund.Account, refund.Id, refund, (account, now) => account.Refund(refund, now)));
    }

    private async IAsyncEnumerable<StatementLine> ReadAsync(
        CardAccount account, StatementFilter filter, long after, int limit,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        if (FieldRules.Check(filter.Request(account, 0, null)) is { } violation)
        {
            throw Invalid(violation);
        }
        List<StatementLine> lines;
        lock (_gate)
        {
            lines =
            [
                .. AccountOf(account).Account.Lines.Where(line => line.Version > after && filter.Selects(line))
                    .Take(limit),
            ];
        }
        foreach (var line in lines)
        {
            cancellationToken.ThrowIfCancellationRequested();
            yield return line;
        }
        await Task.CompletedTask.ConfigureAwait(false);
    }

    private static BillingException Invalid(FieldViolation violation) =>
        new(RejectionReason.InvalidField, ErrorReasons.InvalidField, violation.Field, violation.ToString());

    private static FieldViolation? Read(string? pageToken, string query, out long after)
    {
        after = 0;
        return string.IsNullOrEmpty(pageToken)
            || (pageToken.Split(' ', 2) is [var version, var of] && of == query
                && long.TryParse(version, CultureInfo.InvariantCulture, out after))
            ? null
            : new FieldViolation("page_token", "must be the token of a page of the same account and filter");
    }

    private Outcome<T> Answer<T>(
        CardAccount account, Guid id, object request, Func<InMemoryAccount, DateTimeOffset, Outcome<T>> decide)
        where T : Answer
    {
        lock (_gate)
        {
            var isLost = _lost.TryDequeue(out var recorded);
            var outcome = isLost && !recorded ? null : AnswerOnce(account, id, request, decide);
            return isLost
                ? new(
                    id, unknown: new Uncertainty { Message = "The answer was lost, as requested with LoseNextAnswer." })
                : outcome!;
        }
    }

    private Outcome<T> AnswerOnce<T>(
        CardAccount account, Guid id, object request, Func<InMemoryAccount, DateTimeOffset, Outcome<T>> decide)
        where T : Answer
    {
        var (found, now) = AccountOf(account);
        if (_receipts.TryGetValue((account, id), out var receipt))
        {
            return receipt.Request.Equals(request)
                ? (Outcome<T>)receipt.Result
                : new(id, rejected: new Rejection
                {
                    Reason = RejectionReason.IdReused,
                    Message = $"The id {id} was already used for a different request.",
                });
        }
        var outcome = decide(found, now);
        // Rejected requests are not recorded, so their ids can be used again.
        if (outcome.Rejected is null)
        {
            _receipts[(account, id)] = (request, new Outcome<T>(
                id, outcome.Accepted is { } accepted ? accepted with { IsReplay = true } : null,
                outcome.Declined is { } declined ? declined with { IsReplay = true } : null));
        }
        return outcome;
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

    private sealed class InMemoryAdmin(InMemoryBilling billing) : BillingAdminClient
    {
        public override Task<Outcome<CreditLimitAnswer>> SetCreditLimitAsync(
            CreditLimitChange change, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(change);
            BillingClientOptions.CheckDeadline(deadline);
            cancellationToken.ThrowIfCancellationRequested();
            return Task.FromResult(
                billing.Answer(change.Account, change.Id, change, (account, now) => account.Set(change, now)));
        }

        public override Task<Outcome<AccountStatusAnswer>> SetAccountStatusAsync(
            AccountStatusChange change, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
        {
            ArgumentNullException.ThrowIfNull(change);
            BillingClientOptions.CheckDeadline(deadline);
            cancellationToken.ThrowIfCancellationRequested();
            return Task.FromResult(
                billing.Answer(change.Account, change.Id, change, (account, now) => account.Set(change, now)));
        }
    }
}
