using Billing.Client;
using Billing.Client.Load;
using Billing.V1;
using Grpc.Core;

namespace Billing.Scenarios;

/// <summary>How a call ended.</summary>
/// <param name="IsOk">Whether it was answered.</param>
/// <param name="Status">What it is counted under.</param>
/// <param name="Message">Why it failed.</param>
internal readonly record struct CallEnd(bool IsOk, string Status, string Message = "");

/// <summary>The calls that scenarios are made of. Safe from any thread.</summary>
internal sealed class BillingCalls : IAsyncDisposable
{
    private readonly BillingClient[] _clients;
    private readonly Journal? _journal;
    private readonly int _accounts;
    private readonly CancellationToken _cancellationToken;
    private uint _turn;

    /// <param name="spec">Says where to call, how many clients share the calls, and over how many accounts.</param>
    /// <param name="time">The clients' clock.</param>
    /// <param name="cancellationToken">Gives up the calls under way.</param>
    public BillingCalls(ScenarioSpec spec, TimeProvider time, CancellationToken cancellationToken)
    {
        _accounts = spec.Accounts;
        _cancellationToken = cancellationToken;
        _clients = [.. Enumerable.Range(0, spec.Clients).Select(_ => Client(spec.Proxies, time))];
        _journal = spec.Journal is null ? null : new Journal(spec.Journal);
    }

    /// <summary>Calls that the clients had to send again.</summary>
    public long Retried => _clients.Sum(c => c.Retried);

    /// <summary>Charges an account. A decline is an answer.</summary>
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

    /// <summary>Asks for a balance.</summary>
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
        // How much the platform can take is what is measured.
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
