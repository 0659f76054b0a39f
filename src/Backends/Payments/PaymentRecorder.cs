using Billing.Backends.Domain;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Messaging;
using Grpc.Core;
using Microsoft.Extensions.Options;
using Polly;

namespace Billing.Backends.Payments;

/// <summary>Decides a batch of payments and stores their events and receipts in one transaction. Afterwards every payment
/// of the batch has its result. One caller at a time.</summary>
public sealed partial class PaymentRecorder
{
    private readonly AccountStore _store;
    private readonly AccountCache _cache;
    private readonly Account _opened;
    private readonly TimeProvider _time;
    private readonly ILogger<PaymentRecorder> _logger;
    private readonly ResiliencePipeline _retry;

    /// <summary>Creates the recorder.</summary>
    public PaymentRecorder(
        AccountStore store, IOptions<BackendOptions> options, TimeProvider time, ILogger<PaymentRecorder> logger)
    {
        _store = store;
        _cache = new AccountCache(options.Value.CachedAccountsMax);
        _opened = Account.Opened(options.Value.DefaultCreditLimit);
        _time = time;
        _logger = logger;
        _retry = EventStoreRetry.Forever(time, IsTransient, OnRetry);
    }

    /// <summary>Drops every cached account: some belong to another backend now.</summary>
    public void ForgetAccounts() => _cache.Clear();

    /// <summary>Gives each payment its result, however long the event store is away.</summary>
    /// <exception cref="OperationCanceledException">The token was cancelled; payments without a result may or may not be
    /// recorded.</exception>
    public async Task RecordAsync(IReadOnlyList<PendingPayment> batch, CancellationToken cancellationToken)
    {
        try
        {
            await RecordWithRetriesAsync(batch, cancellationToken);
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested && batch.Count > 1)
        {
            // One of them is poison; alone it cannot take the others with it.
            BatchFailed(e, batch.Count);
            foreach (var payment in batch.Where(p => !p.IsDone))
            {
                await RecordAsync([payment], cancellationToken);
            }
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            PaymentFailed(e, batch[0].Payment.TransactionId, batch[0].StreamId);
            batch[0].Refuse(StatusCode.Internal, ErrorReasons.ProcessingFailed,
                "The payment could not be processed: " + e.Message);
        }
    }

    private async Task RecordWithRetriesAsync(IReadOnlyList<PendingPayment> batch, CancellationToken cancellationToken)
    {
        var first = true;
        await _retry.ExecuteAsync(
            async token =>
            {
                if (!first)
                {
                    // What the failed attempt did is not always known: a connection may break while it commits.
                    await FindRecordedAsync(batch, token);
                }
                first = false;
                RefuseExpired(batch);
                await DecideAndAppendAsync(batch.Where(p => !p.IsDone).ToList(), token);
            },
            cancellationToken);
    }

    private async Task FindRecordedAsync(IReadOnlyList<PendingPayment> batch, CancellationToken cancellationToken)
    {
        _cache.Forget(batch.Select(p => p.StreamId));
        var open = batch.Where(p => !p.IsDone).ToList();
        var receipts = await _store.FindReceiptsAsync(open.Select(p => p.Payment.TransactionId).ToArray(), cancellationToken);
        foreach (var payment in open)
        {
            if (receipts.TryGetValue(payment.Payment.TransactionId, out var recorded))
            {
                payment.Record(recorded);
            }
        }
    }

    private void RefuseExpired(IReadOnlyList<PendingPayment> batch)
    {
        var now = _time.Microseconds();
        foreach (var payment in batch.Where(p => !p.IsDone && p.IsExpired(now)))
        {
            payment.Refuse(StatusCode.DeadlineExceeded, ErrorReasons.CommandExpired,
                "The deadline passed before the payment was recorded; nothing was charged.");
        }
    }

    private async Task DecideAndAppendAsync(List<PendingPayment> open, CancellationToken cancellationToken)
    {
        if (open.Count == 0)
        {
            return;
        }
        var accounts = await AccountsAsync(open, cancellationToken);
        var now = _time.GetUtcNow();
        var events = new List<NewEvent>(open.Count);
        foreach (var payment in open)
        {
            var account = accounts[payment.StreamId];
            var fact = payment.Payment.Decide(account, now);
            var after = account.Apply(fact);
            accounts[payment.StreamId] = after;
            events.Add(new NewEvent(fact, after, RecordedEvent.ToWire(payment.StreamId, fact, after)));
        }
        await _store.AppendAsync(events, cancellationToken);
        for (var i = 0; i < open.Count; i++)
        {
            open[i].Record(events[i].Recorded);
        }
        foreach (var (streamId, account) in accounts)
        {
            _cache.Set(streamId, account);
        }
    }

    private async Task<Dictionary<string, Account>> AccountsAsync(List<PendingPayment> open, CancellationToken cancellationToken)
    {
        var accounts = new Dictionary<string, Account>(open.Count, StringComparer.Ordinal);
        var unknown = new HashSet<string>(StringComparer.Ordinal);
        foreach (var payment in open)
        {
            if (_cache.TryGet(payment.StreamId, out var account))
            {
                accounts[payment.StreamId] = account;
            }
            else
            {
                unknown.Add(payment.StreamId);
            }
        }
        if (unknown.Count > 0)
        {
            foreach (var (streamId, account) in await _store.LoadAsync([.. unknown], _opened, cancellationToken))
            {
                accounts[streamId] = account;
            }
        }
        return accounts;
    }

    private bool IsTransient(Exception e) =>
        AccountStore.IsConflict(e) || _store.IsReceiptCollision(e) || EventStoreRetry.IsAway(e);

    private void OnRetry(Exception e, int attempt) => Retrying(attempt, e.GetBaseException().Message);

    [LoggerMessage(210, LogLevel.Warning, "A batch was not stored, attempt {Attempt}: {Reason}")]
    private partial void Retrying(int attempt, string reason);

    [LoggerMessage(211, LogLevel.Error, "A batch of {Count} payments cannot be processed; trying one by one")]
    private partial void BatchFailed(Exception e, int count);

    [LoggerMessage(212, LogLevel.Error, "The payment {TransactionId} of {StreamId} cannot be processed")]
    private partial void PaymentFailed(Exception e, Guid transactionId, string streamId);
}
