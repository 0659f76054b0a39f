using System.Runtime.CompilerServices;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Calls the billing platform: the calls go to the proxies in turn, and a call that a proxy could not process is retried
/// on the next proxy with the same id, so nothing is charged twice. Thread-safe; keep one instance for the lifetime of the
/// program.</summary>
public sealed partial class BillingClient : IBillingClient, IDisposable
{
    private readonly TimeProvider _time;
    private readonly ProxyCalls _calls;

    /// <summary>Creates a client; connections are opened by the first calls.</summary>
    /// <param name="options">Read by the constructor only; later changes have no effect.</param>
    /// <param name="time">The clock; the system clock if null.</param>
    /// <exception cref="ArgumentException">The options are invalid; the message names them.</exception>
    public BillingClient(BillingClientOptions options, TimeProvider? time = null)
    {
        _time = time ?? TimeProvider.System;
        _calls = new ProxyCalls(options, BillingClientOptions.Section, _time);
    }

    /// <summary>The name of the client's meter and activity source.</summary>
    public static string TelemetryName => ClientTelemetry.Name;

    /// <summary>Number of retries, of calls and of payments on streams.</summary>
    public long Retried => _calls.Retried;

    /// <inheritdoc/>
    public Task<PaymentResult> PayAsync(Payment payment, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(payment);
        return _calls.Unary.ResultAsync(
            MakePayment(payment.Message), payment.Id,
            static (id, answer) => Outcomes.Of(id, answer),
            static (id, reason, field, message) => new PaymentResult.Rejected(id, reason, field, message),
            static (id, reason, message, retryAfter) => new PaymentResult.Unknown(id, reason, message, retryAfter),
            deadline, cancellationToken);
    }

    /// <inheritdoc/>
    public Task<HoldResult> AuthoriseAsync(Hold hold, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(hold);
        return _calls.Unary.ResultAsync(
            AuthorisePayment(hold.Message), hold.Id,
            static (id, answer) => Outcomes.Of(id, answer),
            static (id, reason, field, message) => new HoldResult.Rejected(id, reason, field, message),
            static (id, reason, message, retryAfter) => new HoldResult.Unknown(id, reason, message, retryAfter),
            deadline, cancellationToken);
    }

    /// <inheritdoc/>
    public Task<CaptureResult> CaptureAsync(Capture capture, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(capture);
        return _calls.Unary.ResultAsync(
            CapturePayment(capture.Message), capture.Id,
            static (id, answer) => Outcomes.Of(id, answer),
            static (id, reason, field, message) => new CaptureResult.Rejected(id, reason, field, message),
            static (id, reason, message, retryAfter) => new CaptureResult.Unknown(id, reason, message, retryAfter),
            deadline, cancellationToken);
    }

    /// <inheritdoc/>
    public Task<HoldVoidResult> VoidAsync(HoldVoid request, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(request);
        return _calls.Unary.ResultAsync(
            VoidPayment(request.Message), request.Id,
            static (id, answer) => Outcomes.Of(id, answer),
            static (id, reason, field, message) => new HoldVoidResult.Rejected(id, reason, field, message),
            static (id, reason, message, retryAfter) => new HoldVoidResult.Unknown(id, reason, message, retryAfter),
            deadline, cancellationToken);
    }

    /// <inheritdoc/>
    public Task<RefundResult> RefundAsync(Refund refund, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(refund);
        return _calls.Unary.ResultAsync(
            RefundPayment(refund.Message), refund.Id,
            static (id, answer) => Outcomes.Of(id, answer),
            static (id, reason, field, message) => new RefundResult.Rejected(id, reason, field, message),
            static (id, reason, message, retryAfter) => new RefundResult.Unknown(id, reason, message, retryAfter),
            deadline, cancellationToken);
    }

    /// <inheritdoc/>
    public async IAsyncEnumerable<PaymentResult> PayAllAsync(
        IAsyncEnumerable<Payment> payments, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(payments);
        var answers = Translated(_calls.Bulk().RunAsync(MessagesOf(payments, cancellationToken), cancellationToken), cancellationToken);
        await foreach (var (answer, isFirstTry) in answers)
        {
            yield return Outcomes.Of(Guid.Parse(answer.TransactionId), answer, isFirstTry);
        }
    }

    /// <inheritdoc/>
    public async Task<AccountBalance> GetBalanceAsync(
        CardAccount account, long minVersion = 0, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(minVersion);
        var question = new CheckBalanceRequest { AccountId = account.Id, PaymentType = account.Type, MinVersion = minVersion };
        return AccountBalance.Of(await AskAsync(CheckBalance(question), deadline, cancellationToken));
    }

    /// <inheritdoc/>
    public async Task<FormerBalance> GetBalanceAtAsync(
        CardAccount account, long version, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(version);
        var question = new GetBalanceAtRequest { AccountId = account.Id, PaymentType = account.Type, Version = version };
        return FormerBalance.Of(await AskAsync(GetBalanceAt(question), deadline, cancellationToken));
    }

    /// <inheritdoc/>
    public async Task<FormerBalance> GetBalanceAtAsync(
        CardAccount account, DateTimeOffset time, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        var question = new GetBalanceAtRequest { AccountId = account.Id, PaymentType = account.Type, Time = time.ToTimestamp() };
        return FormerBalance.Of(await AskAsync(GetBalanceAt(question), deadline, cancellationToken));
    }

    /// <inheritdoc/>
    public async Task<FoundPayment?> FindPaymentAsync(
        CardAccount account, Guid id, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        var question = new GetTransactionRequest { TransactionId = id.ToString(), AccountId = account.Id, PaymentType = account.Type };
        try
        {
            return FoundPayment.Of(await _calls.Unary.RunAsync(GetTransaction(question), deadline, cancellationToken));
        }
        catch (RpcException e) when (Reason(e) == ErrorReasons.TransactionNotFound)
        {
            return null;
        }
        catch (RpcException e)
        {
            ProxyCalls.ThrowIfGivenUp(e, cancellationToken);
            throw Outcomes.ToException(e);
        }
    }

    /// <inheritdoc/>
    public async IAsyncEnumerable<StatementLine> ReadStatementAsync(
        CardAccount account, long afterVersion = 0, int limit = 0, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(afterVersion);
        ArgumentOutOfRangeException.ThrowIfNegative(limit);
        var question = new ListStatementRequest
        {
            AccountId = account.Id,
            PaymentType = account.Type,
            AfterVersion = afterVersion,
            PageSize = limit is > 0 and < StatementPage.SizeMax ? limit : StatementPage.SizeMax,
        };
        var left = limit == 0 ? long.MaxValue : limit;
        await foreach (var page in Translated(StreamStatementAsync(question, cancellationToken), cancellationToken))
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
    public async Task<StatementPage> ListStatementAsync(
        CardAccount account, StatementFilter? filter = null, int pageSize = 0, string? pageToken = null, TimeSpan? deadline = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentOutOfRangeException.ThrowIfNegative(pageSize);
        var question = (filter ?? new StatementFilter()).Request(account, pageSize, pageToken);
        return StatementPage.Of(await AskAsync(ListStatement(question), deadline, cancellationToken));
    }

    /// <inheritdoc/>
    public void Dispose() => _calls.Dispose();

    // A call whose failure is an exception.
    private async Task<TAnswer> AskAsync<TRequest, TAnswer>(
        UnaryCall<TRequest, TAnswer> call, TimeSpan? deadline, CancellationToken cancellationToken)
    {
        try
        {
            return await _calls.Unary.RunAsync(call, deadline, cancellationToken);
        }
        catch (RpcException e)
        {
            ProxyCalls.ThrowIfGivenUp(e, cancellationToken);
            throw Outcomes.ToException(e);
        }
    }

    private static async IAsyncEnumerable<MakePaymentRequest> MessagesOf(
        IAsyncEnumerable<Payment> payments, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (var payment in payments.WithCancellation(cancellationToken))
        {
            yield return payment.Message;
        }
    }

    /// <summary>Passes a stream through and throws its failure as a <see cref="BillingException"/>.</summary>
    private static async IAsyncEnumerable<T> Translated<T>(
        IAsyncEnumerable<T> answers, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await using var each = answers.GetAsyncEnumerator(cancellationToken);
        while (true)
        {
            try
            {
                if (!await each.MoveNextAsync())
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
