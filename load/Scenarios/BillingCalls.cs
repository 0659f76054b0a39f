using Billing.Client;
using Billing.Contracts;
using Billing.Driver;
using Billing.Driver.Channels;
using Billing.Driver.Lives;
using Billing.Journals;
using Billing.ScenarioFiles;
using Billing.V1;
using Grpc.Core;

namespace Billing.Scenarios;

/// <summary>The outcome of a call.</summary>
/// <param name="IsOk">Whether it was answered.</param>
/// <param name="Status">The status that it is counted under.</param>
/// <param name="Message">The reason of a failure.</param>
internal readonly record struct CallResult(bool IsOk, string Status, string Message = "");

/// <summary>The calls of the scenarios. Thread-safe.</summary>
internal sealed class BillingCalls : IAsyncDisposable
{
    /// <summary>The status of a declined payment or authorisation.</summary>
    public const string Declined = "declined";

    private readonly BillingClient[] _clients;
    private readonly Journal? _journal;
    private readonly CallClock _clock;
    private readonly int _accounts;
    private readonly CancellationToken _cancellationToken;
    private uint _turn;

    /// <param name="spec">The addresses of the proxies and the numbers of clients and accounts.</param>
    /// <param name="time">The clients' clock.</param>
    public BillingCalls(ScenarioSpec spec, TimeProvider time, CancellationToken cancellationToken)
    {
        _clock = new CallClock(time);
        _accounts = spec.Accounts;
        _cancellationToken = cancellationToken;
        _clients = [.. Enumerable.Range(0, spec.Clients).Select(_ => Client(spec.Proxies, time))];
        _journal = spec.Journal is null ? null : new Journal(spec.Journal);
    }

    /// <summary>Number of retries by the clients.</summary>
    public long Retried => _clients.Sum(c => c.Retried);

    public MakePaymentRequest Draw(Random random) => new RandomRequests(_accounts, random).Payment();

    /// <summary>Charges an account. A decline is an answer.</summary>
    public Task<CallResult> PayAsync(MakePaymentRequest request) => EndAsync(async client =>
    {
        var (began, retried) = (_clock.Now, client.Retried);
        try
        {
            var response = await client.MakePaymentAsync(request, _cancellationToken);
            _journal?.Add(JournalEntry.Of(request, response, _clock.Since(began)));
            return response.Outcome == PaymentOutcome.Declined ? Declined : "accepted";
        }
        catch (Exception e) when (e is RpcException or OperationCanceledException)
        {
            var isFinal = e is RpcException failure
                && PaymentFailure.IsFinal(failure, wasRetried: client.Retried != retried);
            _journal?.Add(JournalEntry.Failed(request, isFinal, _clock.Since(began)));
            throw;
        }
    });

    /// <summary>Checks a balance.</summary>
    public Task<CallResult> CheckAsync(Random random) => EndAsync(async client =>
    {
        var request = new RandomRequests(_accounts, random).Balance();
        var began = _clock.Now;
        var response = await client.CheckBalanceAsync(request, _cancellationToken);
        _journal?.Add(JournalEntry.Of(request, response, _clock.Since(began)));
        return "read";
    });

    /// <summary>Puts a payment on hold.</summary>
    public Task<CallResult> AuthoriseAsync(MakePaymentRequest payment)
    {
        var request = payment.Authorisation();
        return FollowAsync(payment, client => client.SendAsync(request, _cancellationToken), "authorised");
    }

    /// <summary>Captures what is on hold.</summary>
    public Task<CallResult> CaptureAsync(MakePaymentRequest payment)
    {
        var request = payment.Capture(payment.Amount);
        return FollowAsync(payment, client => client.SendAsync(request, _cancellationToken), "captured");
    }

    /// <summary>Gives a payment back.</summary>
    public Task<CallResult> RefundAsync(MakePaymentRequest payment)
    {
        var request = payment.Refund(payment.Amount);
        return FollowAsync(payment, client => client.SendAsync(request, _cancellationToken), "refunded");
    }

    public Task<CallResult> LookUpAsync(MakePaymentRequest payment) => EndAsync(async client =>
    {
        await client.GetTransactionAsync(payment.LookUp(), _cancellationToken);
        return "found";
    });

    /// <summary>Completes the journal and closes the connections.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_journal is not null)
        {
            await _journal.DisposeAsync();
        }
        foreach (var client in _clients)
        {
            client.Dispose();
        }
    }

    private static BillingClient Client(IReadOnlyList<string> proxies, TimeProvider time)
    {
        // No limit on retries: the measurement is to load the platform up to its capacity.
        var options = new BillingClientOptions { RetryShare = null };
        foreach (var proxy in proxies)
        {
            options.Proxies.Add(proxy);
        }
        return new BillingClient(options, time);
    }

    private Task<CallResult> FollowAsync(
        MakePaymentRequest payment, Func<BillingClient, Task<FollowUpAnswer>> send, string status) =>
        EndAsync(async client =>
        {
            var began = _clock.Now;
            var answer = await send(client);
            if (answer.Balance is not null)
            {
                _journal?.Add(JournalEntry.Of(
                    StreamId.For(payment.PaymentType, payment.AccountId),
                    answer.Balance, answer.Version, _clock.Since(began)));
            }
            return answer.IsDeclined ? Declined : status;
        });

    private async Task<CallResult> EndAsync(Func<BillingClient, Task<string>> call)
    {
        try
        {
            return new CallResult(true, await call(_clients[Interlocked.Increment(ref _turn) % (uint)_clients.Length]));
        }
        catch (RpcException e)
        {
            var reason = BillingClient.Reason(e);
            return new CallResult(
                false, reason.Length > 0 ? $"{e.StatusCode} {reason}" : $"{e.StatusCode}", e.Status.Detail);
        }
        catch (OperationCanceledException)
        {
            return new CallResult(false, nameof(StatusCode.Cancelled));
        }
    }
}
