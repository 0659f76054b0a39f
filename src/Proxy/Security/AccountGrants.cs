using Billing.Contracts;
using Billing.V1;

namespace Billing.Proxy.Security;

/// <summary>The accounts that a caller may access, as its token or the settings list them: <c>NETWORK/ACCOUNT</c>,
/// such as <c>visa/acct-42</c>, where <c>*</c> on either side stands for all networks or all accounts.</summary>
public sealed class AccountGrants
{
    /// <summary>The form of an entry, for messages.</summary>
    public const string Form = "NETWORK/ACCOUNT, such as visa/acct-42; * on either side stands for all";

    private const string All = "*";

    // By the number of the network; 0 for all networks.
    private readonly HashSet<string>?[] _accounts = new HashSet<string>?[(int)PaymentTypes.All.Max() + 1];

    /// <summary>Creates the grants of a list of entries, all of which have the form (<see cref="IsValid"/>).</summary>
    public AccountGrants(IEnumerable<string> entries)
    {
        foreach (var entry in entries)
        {
            var (network, account) = Split(entry)!.Value;
            (_accounts[(int)network] ??= new(StringComparer.Ordinal)).Add(account);
        }
    }

    /// <summary>Whether they are for every account of every network.</summary>
    public bool AreForAll => Has(PaymentType.Unspecified, All);

    /// <summary>Whether an entry has the form.</summary>
    public static bool IsValid(string entry) => Split(entry) is not null;

    /// <summary>Whether they include an account.</summary>
    public bool Include(PaymentType network, string account) =>
        Has(network, account) || Has(network, All) || Has(PaymentType.Unspecified, account) || AreForAll;

    private bool Has(PaymentType network, string account) => _accounts[(int)network]?.Contains(account) == true;

    private static (PaymentType Network, string Account)? Split(string entry)
    {
        if (entry.Split('/') is not [var network, var account])
        {
            return null;
        }
        var type = PaymentType.Unspecified;
        return (network == All || FieldRules.TryReadPaymentType(network, out type))
            && (account == All || FieldRules.IsAccountId(account)) ? (type, account) : null;
    }
}
