using System.Globalization;
using Billing.Client;

namespace Billing.Chaos;

/// <summary>An operator who freezes or closes one account after the other, and reopens it. Meanwhile the account's
/// payments are declined, and an account that is in use is seldom closed.</summary>
internal sealed class AccountOperator(BillingAdminClient client, TrafficOptions options, TimeProvider time)
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    private static readonly CardNetwork[] Networks =
    [
        .. Enum.GetValues<CardNetwork>().Where(network => network != CardNetwork.None),
    ];

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
                    Networks[random.Next(Networks.Length)],
                    string.Create(
                        CultureInfo.InvariantCulture, $"{options.AccountPrefix}{random.Next(options.Accounts)}"));
                await ChangeAsync(
                    new AccountStatusChange(account, random.Next(2) == 0 ? AccountStatus.Frozen : AccountStatus.Closed),
                    giveUp);
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
            var outcome = await client.SetAccountStatusAsync(change, cancellationToken: giveUp);
            outcome.Switch(
                accepted: answer =>
                {
                    Changes++;
                    if (answer.Status != change.Status)
                    {
                        _violations.Add($"{change.Account} was to be {change.Status}; the answer is {answer.Status}");
                    }
                },
                rejected: rejection =>
                {
                    if (rejection.Reason != RejectionReason.AccountNotEmpty || change.Status != AccountStatus.Closed)
                    {
                        _violations.Add(
                            $"{change.Account} was to be {change.Status}: {rejection.Reason} {rejection.Message}");
                    }
                },
                unknown: _ => { });
            if (outcome.Unknown is null)
            {
                return;
            }
            await Task.Delay(Pause, time, giveUp);
        }
    }
}
