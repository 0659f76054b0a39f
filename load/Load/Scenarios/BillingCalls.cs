using Billing.Client;
using Billing.Client.Load;
using Billing.V1;
using Grpc.Core;
using NBomber.Contracts;
using NBomber.CSharp;

namespace Billing.Load.Scenarios;

/// <summary>The calls that scenarios are made of, as NBomber counts them. Safe from any thread.</summary>
internal sealed class BillingCalls : IAsyncDisposable
{
    private readonly BillingClient[] _clients;
    private readonly Journal? _journal;
    private readonly int _accounts;
    private readonly CancellationToken _cancellationToken;
    private uint _turn;

    /// <param name="proxies">Addresses of the proxies.</param>
    /// <param name="plan">Says how many clients share the calls, and over how many accounts.</param>
    /// <param name="journal">File for what was acknowledged; none if null.</param>
    /// <param name="time">The clients' clock.</param>
    /// <param name="cancellationToken">Gives up the calls under way.</param>
    public BillingCalls(
        IReadOnlyList<string> proxies, LoadPlan plan, string? journal, TimeProvider time, CancellationToken cancellationToken)
    {
        _accounts = plan.Accounts;
        _cancellationToken = cancellationToken;
        _clients = [.. Enumerable.Range(0, plan.Clients).Select(_ => Client(proxies, time))];
        _journal = journal is null ? null : new Journal(journal);
    }

    /// <summary>Calls that the clients had to send again.</summary>
    public long Retried => _clients.Sum(c => c.Retried);

    /// <summary>Charges an account. A decline is an answer.</summary>
    public Task<Response<object>> PayAsync(Random random) => AnswerAsync(async client =>
    {
        var request = new RandomRequests(_accounts, random).Payment();
        try
        {
            var response = await client.MakePaymentAsync(request, _cancellationToken);
            _journal?.Add(JournalEntry.Of(request, response));
            return response.Outcome == PaymentOutcome.Declined ? "declined" : "accepted";
        }
        catch (RpcException)
        {
            _journal?.Add(JournalEntry.Of(request, null));
            throw;
        }
    });

    /// <summary>Asks for a balance.</summary>
    public Task<Response<object>> CheckAsync(Random random) => AnswerAsync(async client =>
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
        var options = new BillingClientOptions();
        foreach (var proxy in proxies)
        {
            options.Proxies.Add(proxy);
        }
        return new BillingClient(options, time);
    }

    private async Task<Response<object>> AnswerAsync(Func<BillingClient, Task<string>> call)
    {
        try
        {
            return Response.Ok(statusCode: await call(_clients[Interlocked.Increment(ref _turn) % (uint)_clients.Length]));
        }
        catch (RpcException e)
        {
            var reason = BillingClient.Reason(e);
            return Response.Fail(statusCode: reason.Length > 0 ? $"{e.StatusCode} {reason}" : $"{e.StatusCode}", message: e.Status.Detail);
        }
    }
}
