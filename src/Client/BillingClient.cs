using System.Runtime.CompilerServices;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Calls the billing platform: the calls go to the proxies in turn, and a call that a proxy could not process
/// is retried on the next proxy with the same id, so nothing is charged twice. Thread-safe; keep one instance for the
/// lifetime of the program. Tests may derive from it, or use <see cref="Testing.InMemoryBilling"/>.</summary>
public class BillingClient : IDisposable
{
    private readonly ProxyCalls? _calls;
    private readonly BillingService.BillingServiceClient? _messages;

    /// <summary>Creates a client; connections are opened by the first calls.</summary>
    /// <param name="options">Read by the constructor only; later changes have no effect.</param>
    /// <param name="time">The clock; the system clock if null.</param>
    /// <exception cref="ArgumentException">The options are invalid; the message names them.</exception>
    public BillingClient(BillingClientOptions options, TimeProvider? time = null)
    {
        _calls = new ProxyCalls(options, BillingClientOptions.Section, time);
        _messages = new BillingService.BillingServiceClient(_calls.Invoker);
    }

    /// <summary>Creates a client that calls nothing, for classes that stand in for the platform in tests.</summary>
    protected BillingClient()
    {
    }

    /// <summary>The name of the client's meter and activity source, and of its log.</summary>
    public static string TelemetryName => ClientTelemetry.Name;

    /// <summary>Number of retries, of calls and of payments on streams.</summary>
    public virtual long Retried => Calls.Retried;

    /// <summary>Calls the proxies with this client's token, retries and circuits, for the class that protoc
    /// generates from billing.proto: <c>new BillingService.BillingServiceClient(client.CallInvoker)</c>. Its calls
    /// throw <see cref="RpcException"/>; see <see cref="Reason"/>. Read the answers of a stream of payments while
    /// you write the payments.</summary>
    public virtual CallInvoker CallInvoker => Calls.Invoker;

    internal ProxyCalls Calls => _calls ?? throw NotOverridden();

    private BillingService.BillingServiceClient Messages => _messages ?? throw NotOverridden();

    /// <summary>Returns the machine-readable reason of a failed call, one of <see cref="ErrorReasons"/>;
    /// empty if it has none of the platform's.</summary>
    public static string Reason(RpcException failure)
    {
        ArgumentNullException.ThrowIfNull(failure);
        return ProxyFailure.Reason(failure);
    }

    /// <summary>Charges an account.</summary>
    /// <param name="payment">Keep it until its outcome is known: a retry with it is always safe.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the payment may or may not be recorded.</param>
    /// <returns>The outcome; a failure is <see cref="Outcome{T}.Unknown"/>, not an exception.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<Outcome<PaymentAnswer>> PayAsync(
        Payment payment, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(payment);
        return ProxyCalls.OutcomeAsync(
            payment.Id, Messages.MakePaymentAsync(payment.Message, Calls.Options(deadline, cancellationToken)),
            Outcomes.Of, cancellationToken);
    }

    /// <summary>Puts an amount on hold: it lowers the available credit, and not the balance, until it is captured,
    /// voided or expired.</summary>
    /// <param name="hold">Keep it until its outcome is known: a retry with it is always safe.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the hold may or may not be recorded.</param>
    /// <returns>The outcome; a failure is <see cref="Outcome{T}.Unknown"/>, not an exception.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<Outcome<HoldAnswer>> AuthoriseAsync(
        Hold hold, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(hold);
        return ProxyCalls.OutcomeAsync(
            hold.Id, Messages.AuthorisePaymentAsync(hold.Message, Calls.Options(deadline, cancellationToken)),
            Outcomes.Of, cancellationToken);
    }

    /// <summary>Charges what is on hold, whole or in part, at once or several times.</summary>
    /// <param name="capture">Keep it until its outcome is known: a retry with it is always safe.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the capture may or may not be recorded.</param>
    /// <returns>The outcome; a failure is <see cref="Outcome{T}.Unknown"/>, not an exception.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<Outcome<CaptureAnswer>> CaptureAsync(
        Capture capture, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(capture);
        return ProxyCalls.OutcomeAsync(
            capture.Id, Messages.CapturePaymentAsync(capture.Message, Calls.Options(deadline, cancellationToken)),
            CaptureAnswer.Of, cancellationToken);
    }

    /// <summary>Releases what is still on hold.</summary>
    /// <param name="request">Keep it until its outcome is known: a retry with it is always safe.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; it may or may not be recorded.</param>
    /// <returns>The outcome; a failure is <see cref="Outcome{T}.Unknown"/>, not an exception.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<Outcome<HoldVoidAnswer>> VoidAsync(
        HoldVoid request, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return ProxyCalls.OutcomeAsync(
            request.Id, Messages.VoidPaymentAsync(request.Message, Calls.Options(deadline, cancellationToken)),
            HoldVoidAnswer.Of, cancellationToken);
    }

    /// <summary>Gives back a payment, whole or in part.</summary>
    /// <param name="refund">Keep it until its outcome is known: a retry with it is always safe.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the refund may or may not be recorded.</param>
    /// <returns>The outcome; a failure is <see cref="Outcome{T}.Unknown"/>, not an exception.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<Outcome<RefundAnswer>> RefundAsync(
        Refund refund, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(refund);
        return ProxyCalls.OutcomeAsync(
            refund.Id, Messages.RefundPaymentAsync(refund.Message, Calls.Options(deadline, cancellationToken)),
            RefundAnswer.Of, cancellationToken);
    }

    /// <summary>Charges many accounts over one stream, which costs far less than one call per payment. The number of
    /// payments in flight is limited: payments are read only as fast as the results are enumerated.</summary>
    /// <param name="payments">Enumerated while the results are enumerated, on any thread.</param>
    /// <param name="cancellationToken">Cancels the run; payments without a result may or may not be recorded.</param>
    /// <returns>One result for each payment, in the order of arrival.</returns>
    /// <exception cref="BillingException">No proxy accepts the stream. The payments in flight have had their results
    /// before; none of the remaining ones was sent.</exception>
    public virtual async IAsyncEnumerable<Outcome<PaymentAnswer>> PayAllAsync(
        IAsyncEnumerable<Payment> payments, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(payments);
        var answers = Translated(
            Calls.Bulk().RunAsync(MessagesOf(payments, cancellationToken), cancellationToken), cancellationToken);
        await foreach (var (answer, isFirstTry) in answers.ConfigureAwait(false))
        {
            yield return Outcomes.Of(Guid.Parse(answer.TransactionId), answer, isFirstTry);
        }
    }

    /// <summary>Reads the balance and the available credit of an account.</summary>
    /// <param name="account">The account.</param>
    /// <param name="minVersion">The minimum version of the account that the answer must include; 0 means any.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<AccountBalance> GetBalanceAsync(
        CardAccount account, long minVersion = 0, TimeSpan? deadline = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(minVersion);
        var question =
            new CheckBalanceRequest { AccountId = account.Id, PaymentType = account.Type, MinVersion = minVersion };
        return AskAsync(
            Messages.CheckBalanceAsync(question, Calls.Options(deadline, cancellationToken)),
            AccountBalance.Of, cancellationToken);
    }

    /// <summary>Reads the balance and the available credit of an account as they were after
    /// one of its events.</summary>
    /// <param name="account">The account.</param>
    /// <param name="version">The event's version; 0 for before all events.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed, with <see cref="RejectionReason.VersionNotReached"/> if the
    /// account has no such version.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<PastBalance> GetBalanceAtAsync(
        CardAccount account, long version, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(version);
        var question =
            new GetBalanceAtRequest { AccountId = account.Id, PaymentType = account.Type, Version = version };
        return AskAsync(
            Messages.GetBalanceAtAsync(question, Calls.Options(deadline, cancellationToken)),
            PastBalance.Of, cancellationToken);
    }

    /// <summary>Reads the balance and the available credit of an account as they were at a time: after the last event
    /// that was decided at or before it, or before all events. An event that is decided and not stored yet is not there
    /// yet, so for a time that has just been, or is to come, a later answer may be another one.</summary>
    /// <param name="account">The account.</param>
    /// <param name="time">The time.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<PastBalance> GetBalanceAtAsync(
        CardAccount account, DateTimeOffset time, TimeSpan? deadline = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        var question =
            new GetBalanceAtRequest { AccountId = account.Id, PaymentType = account.Type, Time = time.ToTimestamp() };
        return AskAsync(
            Messages.GetBalanceAtAsync(question, Calls.Options(deadline, cancellationToken)),
            PastBalance.Of, cancellationToken);
    }

    /// <summary>Finds a request by its id: a payment, a hold, or any later change of one or of the account.</summary>
    /// <param name="account">The account of the request.</param>
    /// <param name="id">The id of the request.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <returns>What is recorded of the request, with the totals of the payment that it made or changed;
    /// null if nothing is recorded. A request whose outcome is <see cref="Outcome{T}.Unknown"/> may still
    /// be recorded later.</returns>
    /// <exception cref="BillingException">The call failed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual async Task<FoundTransaction?> FindTransactionAsync(
        CardAccount account, Guid id, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        var question = new GetTransactionRequest
        {
            TransactionId = id.ToString(),
            AccountId = account.Id,
            PaymentType = account.Type,
        };
        try
        {
            return await AskAsync(
                Messages.GetTransactionAsync(question, Calls.Options(deadline, cancellationToken)),
                FoundTransaction.Of, cancellationToken)
                .ConfigureAwait(false);
        }
        catch (BillingException e) when (e.InnerException is RpcException failure
            && Reason(failure) == ErrorReasons.TransactionNotFound)
        {
            return null;
        }
    }

    /// <summary>Reads the statement of an account, in order.</summary>
    /// <param name="account">The account.</param>
    /// <param name="afterVersion">Starts after this version; 0 starts at the beginning.</param>
    /// <param name="limit">Maximum number of lines; 0 means all.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed, possibly after some lines.</exception>
    public virtual IAsyncEnumerable<StatementLine> ReadStatementAsync(
        CardAccount account, long afterVersion = 0, int limit = 0, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(afterVersion);
        ArgumentOutOfRangeException.ThrowIfNegative(limit);
        var size = limit is > 0 and < StatementPage.SizeMax ? limit : StatementPage.SizeMax;
        var question = new StatementFilter().Request(account, size, null);
        question.AfterVersion = afterVersion;
        return ReadAsync(question, limit, cancellationToken);
    }

    /// <summary>Reads some lines of the statement of an account, in order.</summary>
    /// <param name="account">The account.</param>
    /// <param name="filter">Which lines.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed, possibly after some lines.</exception>
    public virtual IAsyncEnumerable<StatementLine> ReadStatementAsync(
        CardAccount account, StatementFilter filter, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentNullException.ThrowIfNull(filter);
        return ReadAsync(filter.Request(account, StatementPage.SizeMax, null), limit: 0, cancellationToken);
    }

    /// <summary>Reads a page of the statement of an account.</summary>
    /// <param name="account">The account.</param>
    /// <param name="filter">Which lines; null for all.</param>
    /// <param name="pageSize">Maximum number of lines; 0 for 100, and no more than 1000.</param>
    /// <param name="pageToken">The <see cref="StatementPage.NextPageToken"/> of the page before, which was read with
    /// the same account and filter; null for the first page.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BillingException">The call failed, with the field <c>page_token</c> if the token is of another
    /// account or filter.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<StatementPage> GetStatementPageAsync(
        CardAccount account, StatementFilter? filter = null, int pageSize = 0, string? pageToken = null,
        TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(pageSize);
        var question = (filter ?? new StatementFilter()).Request(account, pageSize, pageToken);
        return AskAsync(
            Messages.ListStatementAsync(question, Calls.Options(deadline, cancellationToken)),
            StatementPage.Of, cancellationToken);
    }

    /// <summary>Closes the connections; calls in flight end.</summary>
    public void Dispose()
    {
        Dispose(disposing: true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes the connections.</summary>
    /// <param name="disposing">Always true.</param>
    protected virtual void Dispose(bool disposing) => _calls?.Dispose();

    internal static NotSupportedException NotOverridden() =>
        new(
            "This client has no options, so it calls no platform: the class that derives from it has to "
            + "override what is called.");

    // A call whose failure is an exception.
    private static async Task<T> AskAsync<TAnswer, T>(
        AsyncUnaryCall<TAnswer> call, Func<TAnswer, T> of, CancellationToken cancellationToken)
    {
        try
        {
            return of(await call.ConfigureAwait(false));
        }
        catch (RpcException e)
        {
            ProxyCalls.ThrowIfGivenUp(e, cancellationToken);
            throw Outcomes.ToException(e);
        }
    }

    private async IAsyncEnumerable<StatementLine> ReadAsync(
        ListStatementRequest question, int limit, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var left = limit == 0 ? long.MaxValue : limit;
        var pages = StatementReader.ReadAsync(
            Calls.Streams("billing.v1.BillingService/StreamStatement"), question, cancellationToken);
        await foreach (var page in Translated(pages, cancellationToken).ConfigureAwait(false))
        {
            foreach (var entry in page.Entries)
            {
                yield return StatementLine.Of(entry);
                if (--left == 0)
                {
                    yield break;
                }
            }
        }
    }

    private static async IAsyncEnumerable<MakePaymentRequest> MessagesOf(
        IAsyncEnumerable<Payment> payments, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (var payment in payments.WithCancellation(cancellationToken).ConfigureAwait(false))
        {
            yield return payment.Message;
        }
    }

    /// <summary>Passes a stream through and throws its failure as a <see cref="BillingException"/>.</summary>
    private static async IAsyncEnumerable<T> Translated<T>(
        IAsyncEnumerable<T> answers, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var each = answers.GetAsyncEnumerator(cancellationToken);
        await using var _ = each.ConfigureAwait(false);
        while (true)
        {
            try
            {
                if (!await each.MoveNextAsync().ConfigureAwait(false))
                {
                    yield break;
                }
            }
            catch (RpcException e)
            {
                ProxyCalls.ThrowIfGivenUp(e, cancellationToken);
                throw Outcomes.ToException(e);
            }
            yield return each.Current;
        }
    }
}
