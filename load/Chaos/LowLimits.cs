using System.Globalization;
using Billing.Client;
using Billing.Contracts;
using Billing.Driver.Channels;
using Billing.V1;
using Grpc.Core;

namespace Billing.Chaos;

/// <summary>Sets low credit limits for some accounts of a load test: without them every payment is accepted,
/// and declines are not tested.</summary>
public static class LowLimits
{
    // One in this many accounts has a low limit.
    private const int OneIn = 20;

    private const int ConcurrencyMax = 64;

    /// <summary>Sets the low limits, in US dollars, of the accounts of all payment types.</summary>
    /// <param name="accountPrefix">The prefix of the accounts' ids, followed by their numbers, from 0.</param>
    /// <param name="accounts">Number of accounts of each payment type.</param>
    /// <param name="cancellationToken">Cancels; some limits may be set by then.</param>
    /// <returns>The number of low limits.</returns>
    /// <exception cref="RpcException">A limit could not be set.</exception>
    public static async Task<int> SetAsync(
        BillingAdminClient client, string accountPrefix, int accounts, CancellationToken cancellationToken)
    {
        var requests =
            (from number in Enumerable.Range(0, accounts)
             let limit = Of(number)
             where limit is not null
             from type in PaymentTypes.All
             select new SetCreditLimitRequest
             {
                 TransactionId = Guid.NewGuid().ToString(),
                 AccountId = string.Create(CultureInfo.InvariantCulture, $"{accountPrefix}{number}"),
                 PaymentType = type,
                 Limit = limit.Value.ToMoney("USD"),
             }).ToList();
        await Parallel.ForEachAsync(
            requests,
            new ParallelOptions { MaxDegreeOfParallelism = ConcurrencyMax, CancellationToken = cancellationToken },
            async (request, token) => await SetAsync(client, request, token));
        return requests.Count;
    }

    // 10 to 100, less than the sum of a few payments; null if the account keeps its own.
    private static decimal? Of(int account) => account % OneIn == 0 ? 10m * (1 + (account / OneIn % 10)) : null;

    private static async Task SetAsync(
        BillingAdminClient client, SetCreditLimitRequest request, CancellationToken cancellationToken)
    {
        try
        {
            await client.SetCreditLimitAsync(request, cancellationToken);
        }
        catch (RpcException e) when (e.StatusCode == StatusCode.FailedPrecondition)
        {
            // In an existing store the account may be kept in another currency. Its payments in dollars
            // are declined anyway.
        }
    }
}
