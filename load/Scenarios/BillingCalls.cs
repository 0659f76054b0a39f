using Billing.Client;
using Billing.Client.Load;
using Billing.V1;
using Grpc.Core;

namespace Billing.Scenarios;

/// <summary>The result of a call.</summary>
/// <param name="IsOk">Whether it was answered.</param>
/// <param name="Status">The status under which it is counted.</param>
/// <param name="Message">The error message of a failed call.</param>
internal readonly record struct CallEnd(bool IsOk, string Status, string Message = "");

/// <summary>Makes the calls of scenarios. Thread-safe.</summary>
internal sealed class BillingCalls : IAsyncDisposable
{
    private readonly BillingClient[] _clients;
    private readonly Journal? _journal;
    private readonly int _accounts;
    private readonly CancellationToken _cancellationToken;
    private uint _turn;

    /// <param name="spec">The proxies, the number of clients that share the calls, and the number of accounts.</param>
    /// <param name="time">The clients' clock.</param>
    /// <param name="cancellationToken">Cancels the calls in flight.</param>
    public BillingCalls(ScenarioSpec spec, TimeProvider time, CancellationToken cancellationToken)
    {
        _accounts = spec.Accounts;
        _cancellationToken = cancellationToken;
        _clients = [.. Enumerable.Range(0, spec.Clients).Select(_ => Client(spec.Proxies, time))];
        _journal = spec.Journal is null ? null : new Journal(spec.Journal);
    }

    /// <summary>Number of retries by the clients.</summary>
    public long Retried => _clients.Sum(c => c.Retried);

    /// <summary>Makes a payment. A declined payment counts as answered.</summary>
    public Task<CallEnd> PayAsync(Random random) => EndAsync(async client =>
    {
        var request = new RandomRequests(_accounts, random).Payment();
        try
        {
            var response = await client.MakePaymentAsync(request, _cancellationToken);
            _journal?.Add(JournalEntry.Of(request, response));
            return response.Outcome == PaymentOutcome.Declined ? "declined" : "accepted";
        }
        catch (Exception e) when (e is RpcException or OperationCanceledException)
        {
            _journal?.Add(JournalEntry.Of(request, null));
            throw;
        }
    });

    /// <summary>Checks a balance.</summary>
    public Task<CallEnd> CheckAsync(Random random) => EndAsync(async client =>
    {
        await client.CheckBalanceAsync(new RandomRequests(_accounts, random).Balance(), _cancellationToken);
        return "read";
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
        // No retry budget: the capacity of the platform is measured.
        var options = new BillingClientOptions { RetryShare = null };
        foreach (var proxy in proxies)
        {
            options.Proxies.Add(proxy);
        }
        return new BillingClient(options, time);
    }

    private async Task<CallEnd> EndAsync(Func<BillingClient, Task<string>> call)
    {
        try
        {
            return new CallEnd(true, await call(_clients[Interlocked.Increment(ref _turn) % (uint)_clients.Length]));
        }
        catch (RpcException e)
        {
            var reason = BillingClient.Reason(e);
            return new CallEnd(false, reason.Length > 0 ? $"{e.StatusCode} {reason}" : $"{e.StatusCode}", e.Status.Detail);
        }
        catch (OperationCanceledException)
        {
            return new CallEnd(false, nameof(StatusCode.Cancelled));
        }
    }
}
