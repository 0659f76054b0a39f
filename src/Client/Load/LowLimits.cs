using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client.Load;

/// <summary>Low credit limits for some of the accounts that load goes to: without them every payment is accepted, and nothing
/// is known of declines.</summary>
public static class LowLimits
{
    /// <summary>One account in so many has a low limit.</summary>
    public const int OneIn = 20;

    private const int ConcurrencyMax = 64;

    /// <summary>The limit of an account: 10 to 100, less than what a few payments come to.</summary>
    /// <param name="account">The account's number.</param>
    /// <returns>Null where the account keeps the limit that it has.</returns>
    public static decimal? Of(int account) => account % OneIn == 0 ? 10m * (1 + (account / OneIn % 10)) : null;

    /// <summary>Sets the limits, in US dollars, of accounts of all payment types.</summary>
    /// <param name="client">The client.</param>
    /// <param name="accountPrefix">What the accounts' ids begin with; their numbers follow, from 0.</param>
    /// <param name="accounts">How many accounts of each payment type there are.</param>
    /// <param name="cancellationToken">Gives up; some limits are set then.</param>
    /// <returns>How many limits there are.</returns>
    /// <exception cref="RpcException">A limit could not be set.</exception>
    public static async Task<int> SetAsync(
        BillingClient client, string accountPrefix, int accounts, CancellationToken cancellationToken)
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
            requests, new ParallelOptions { MaxDegreeOfParallelism = ConcurrencyMax, CancellationToken = cancellationToken },
            async (request, token) => await SetAsync(client, request, token));
        return requests.Count;
    }

    private static async Task SetAsync(BillingClient client, SetCreditLimitRequest request, CancellationToken cancellationToken)
    {
        try
        {
            await client.SetCreditLimitAsync(request, cancellationToken);
        }
        catch (RpcException e) when (e.StatusCode == StatusCode.FailedPrecondition)
        {
            // In a store from before the account may be kept in another currency. Its payments are declined anyhow.
        }
    }
}
