using System.Globalization;
using Billing.Client;
using Billing.Contracts;
using Billing.V1;

namespace Billing.Chaos;

/// <summary>An operator who freezes or closes one account after the other, and reopens it. Meanwhile the account's payments are declined, and an account
/// that is in use is seldom closed.</summary>
internal sealed class AccountOperator(BillingAdminClient client, TrafficOptions options, TimeProvider time)
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    private readonly List<string> _violations = [];

    /// <summary>Number of changes that were applied.</summary>
    public int Changes { get; private set; }

    /// <summary>Refusals that should not have been.</summary>
    public IReadOnlyList<string> Violations => _violations;

    /// <summary>Works until it is enough; the last account is reopened by then.</summary>
    /// <param name="enough">Ends the work.</param>
    /// <param name="giveUp">Ends the wait for answers.</param>
    public async Task RunAsync(CancellationToken enough, CancellationToken giveUp)
    {
        var random = new Random(options.Seed);
        try
        {
            while (!enough.IsCancellationRequested)
            {
                var account = new CardAccount(
                    PaymentTypes.All[random.Next(PaymentTypes.All.Count)],
                    string.Create(CultureInfo.InvariantCulture, $"{options.AccountPrefix}{random.Next(options.Accounts)}"));
                await ChangeAsync(new AccountStatusChange(account, random.Next(2) == 0 ? AccountStatus.Frozen : AccountStatus.Closed), giveUp);
                await Task.Delay(Pause, time, giveUp);
                await ChangeAsync(new AccountStatusChange(account, AccountStatus.Open), giveUp);
            }
        }
        catch (OperationCanceledException) when (giveUp.IsCancellationRequested)
        {
            // Whoever stops the traffic says what was not answered.
        }
    }

    // Until it is known what has become of it.
    private async Task ChangeAsync(AccountStatusChange change, CancellationToken giveUp)
    {
        while (true)
        {
            switch (await client.SetAccountStatusAsync(change, cancellationToken: giveUp))
            {
                case AccountStatusResult.Applied applied:
                    Changes++;
                    if (applied.Status != change.Status)
                    {
                        _violations.Add($"{change.Account} was to be {change.Status}; the answer is {applied.Status}");
                    }
                    return;
                case AccountStatusResult.Rejected { Reason: RejectionReason.AccountNotEmpty } when change.Status == AccountStatus.Closed:
                    return;
                case AccountStatusResult.Rejected rejected:
                    _violations.Add($"{change.Account} was to be {change.Status}: {rejected.Reason} {rejected.Message}");
                    return;
                default:
                    await Task.Delay(Pause, time, giveUp);
                    break;
            }
        }
    }
}
