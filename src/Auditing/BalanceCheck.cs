using Billing.Client;
using Billing.Contracts;
using Billing.Journals;
using Billing.V1;
using Grpc.Core;

namespace Billing.Auditing;

/// <summary>Requests the balances of accounts from the proxies and compares them with the sums of the events.</summary>
/// <param name="proxies">Their addresses.</param>
/// <param name="caFile">The authorities that sign their certificates; null for those that the machine trusts.</param>
/// <param name="token">The token that they require; null for none.</param>
/// <param name="progress">Receives the progress.</param>
internal sealed class BalanceCheck(
    IReadOnlyList<string> proxies, string? caFile, string? token, IProgress<AuditProgress>? progress)
{
    private const int ConcurrencyMax = 200;
    private const string Part = "Balances";

    /// <summary>Checks every account.</summary>
    /// <returns>The number of checked accounts.</returns>
    /// <exception cref="AuditException">The addresses, the token or the authorities cannot be used.</exception>
    public async Task<long> RunAsync(
        IReadOnlyCollection<(string StreamId, long Version, decimal Balance)> accounts, Findings unbalanced,
        CancellationToken cancellationToken)
    {
        using var client = Client();
        var counter = new AuditCounter(progress, Part, accounts.Count);
        var parallel =
            new ParallelOptions { MaxDegreeOfParallelism = ConcurrencyMax, CancellationToken = cancellationToken };
        await Parallel.ForEachAsync(accounts, parallel, async (account, stop) =>
        {
            await CheckAsync(client, account.StreamId, account.Version, account.Balance, unbalanced, stop);
            counter.Add();
        });
        counter.Complete();
        return counter.Done;
    }

    private BillingClient Client()
    {
        var options = new BillingClientOptions { Token = token };
        options.Tls.CaFile = caFile;
        foreach (var proxy in proxies)
        {
            options.Proxies.Add(proxy);
        }
        try
        {
            return new BillingClient(options, TimeProvider.System);
        }
        catch (ArgumentException e)
        {
            throw new AuditException(e.Message, e);
        }
    }

    private static async Task CheckAsync(
        BillingClient client, string streamId, long version, decimal balance,
        Findings unbalanced, CancellationToken cancellationToken)
    {
        if (Question(streamId, version) is not { } question)
        {
            unbalanced.Add($"{streamId}: no account has this stream id");
            return;
        }
        try
        {
            var answer = await new BillingService.BillingServiceClient(client.CallInvoker)
                .CheckBalanceAsync(question, cancellationToken: cancellationToken);
            // An answer of a later version belongs to an account that was charged after the store was read.
            if (answer.Version < version || (answer.Version == version && WireAmount.Of(answer.Balance) != balance))
            {
                unbalanced.Add(
                    $"{streamId}: the proxies return balance {WireAmount.Of(answer.Balance)} at version "
                    + $"{answer.Version}; the events up to version {version} sum up to {balance}");
            }
        }
        catch (RpcException e) when (e.StatusCode != StatusCode.Cancelled)
        {
            unbalanced.Add($"{streamId}: the proxies return no balance: {e.StatusCode} {e.Status.Detail}");
        }
    }

    private static CheckBalanceRequest? Question(string streamId, long version)
    {
        foreach (var type in PaymentTypes.All)
        {
            var prefix = StreamId.For(type, "");
            if (streamId.StartsWith(prefix, StringComparison.Ordinal))
            {
                return new CheckBalanceRequest
                {
                    AccountId = streamId[prefix.Length..],
                    PaymentType = type,
                    MinVersion = version,
                };
            }
        }
        return null;
    }
}
