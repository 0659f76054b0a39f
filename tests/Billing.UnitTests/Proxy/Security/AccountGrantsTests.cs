using Billing.Contracts;
using Billing.Proxy.Security;
using Billing.V1;

namespace Billing.UnitTests.Proxy.Security;

public sealed class AccountGrantsTests
{
    private static readonly string[] Accounts = ["acct-42", "acct-4", "ACCT-42", "a"];

    /// <summary>Every account of every network against every form of an entry.</summary>
    [Fact]
    public void An_entry_is_for_its_network_and_its_account_and_a_star_for_all()
    {
        var names = PaymentTypes.All.Select(PaymentTypes.NameOf).ToList();
        foreach (var (network, account) in from network in names.Append(
            "*")
                                           from account in Accounts.Append("*")
                                           select (network, account))
        {
            var grants = new AccountGrants([$"{network.ToUpperInvariant()}/{account}"]);

            Assert.All(
                from type in PaymentTypes.All from id in Accounts select (type, id),
                asked => Assert.Equal(
                    (network == "*" || network == PaymentTypes.NameOf(asked.type))
                        && (account == "*" || account == asked.id),
                    grants.Include(asked.type, asked.id)));
        }
    }

    [Fact]
    public void Entries_add_up_and_only_the_two_stars_are_for_all()
    {
        var grants = new AccountGrants(["visa/a", "*/b", "amex/*"]);

        Assert.True(grants.Include(PaymentType.Visa, "a") && grants.Include(PaymentType.Discover, "b")
            && grants.Include(PaymentType.Amex, "c"));
        Assert.False(
            grants.Include(PaymentType.Mastercard, "a") || grants.Include(PaymentType.Visa, "c") || grants.AreForAll);
        Assert.True(new AccountGrants(["visa/a", "*/*"]).AreForAll);
        Assert.False(new AccountGrants([]).Include(PaymentType.Visa, "a"));
    }

    [Theory]
    [InlineData("")]
    [InlineData("*")]
    [InlineData("acct-42")]
    [InlineData("visa/")]
    [InlineData("/acct-42")]
    [InlineData("visa/acct-*")]
    [InlineData("vis*/acct-42")]
    [InlineData("diners/acct-42")]
    [InlineData("visa/acct-42/x")]
    [InlineData("visa/..")]
    [InlineData("visa/a b")]
    public void Another_form_is_invalid(string entry) => Assert.False(AccountGrants.IsValid(entry));
}
