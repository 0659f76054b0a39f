using Billing.Client;
using Billing.UnitTests.Proxy.Security;
using Billing.V1;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Billing.UnitTests.Client;

/// <summary>The client of operators, which has addresses, a caller and options of its own.</summary>
public sealed class BillingAdminClientTests
{
    private static readonly CreditLimitChange Limit = new(
        new CardAccount(CardNetwork.Visa, "acct-1"), new Amount(5, "USD"));

    [Fact]
    public async Task A_limit_is_set_at_the_admin_address_only_and_by_administrators_only()
    {
        await using var proxy = await SecureProxy.StartAsync();
        proxy.Backend.Answer = _ => Task.FromResult(new Wire.V1.Reply
        {
            CreditLimit = new SetCreditLimitResponse
            {
                Limit = Limit.Limit.ToMoney(),
                Balance = new Amount(0, "USD").ToMoney(),
                Version = 3,
            },
        });
        using var publicly = Client(proxy, proxy.Grpc, "accounts:manage");
        using var asCaller = Client(proxy, proxy.Admin, "payments:write");
        using var asAdmin = Client(proxy, proxy.Admin, "accounts:manage");

        var hidden = Expect.Rejected(await publicly.SetCreditLimitAsync(Limit));
        var forbidden = Expect.Rejected(await asCaller.SetCreditLimitAsync(Limit));
        var applied = await asAdmin.SetCreditLimitAsync(Limit);

        Assert.Equal((RejectionReason.Other, RejectionReason.NotAllowed), (hidden.Reason, forbidden.Reason));
        Assert.Contains("admin address", hidden.Message, StringComparison.Ordinal);
        Assert.Equal(
            Outcome.Accepted(
                Limit.Id, new CreditLimitAnswer { Limit = Limit.Limit, Balance = new Amount(0, "USD"), Version = 3 }),
            applied);
    }

    [Fact]
    public void An_application_may_have_both_clients_each_with_its_own_options()
    {
        using var good = new ServiceCollection()
            .AddBillingClient(o => o.Proxies.Add("http://localhost:5000"))
            .AddBillingAdminClient(o => o.Proxies.Add("http://localhost:5090"))
            .BuildServiceProvider();
        using var bad = new ServiceCollection()
            .AddBillingClient(o => o.Proxies.Add("http://localhost:5000"))
            .AddBillingAdminClient(o => o.Tls.CaFile = "/nowhere/ca.pem")
            .BuildServiceProvider();

        Assert.NotNull(good.GetRequiredService<BillingAdminClient>());
        var options = good.GetRequiredService<IOptionsMonitor<BillingClientOptions>>();
        Assert.Equal(["http://localhost:5000"], options.CurrentValue.Proxies);
        Assert.Equal(["http://localhost:5090"], options.Get(BillingAdminClient.Section).Proxies);
        Assert.NotNull(bad.GetRequiredService<BillingClient>());
        var e = Assert.Throws<OptionsValidationException>(() => bad.GetRequiredService<BillingAdminClient>());
        Assert.Equal(
            [
                "Billing:AdminClient:Proxies is empty; give at least one address, e.g. http://localhost:5000.",
                "Billing:AdminClient:Tls:CaFile: there is no file '/nowhere/ca.pem'.",
            ],
            e.Failures);
    }

    private static BillingAdminClient Client(SecureProxy proxy, Uri address, string scopes)
    {
        var options =
            new BillingClientOptions { Proxies = { address.AbsoluteUri }, Token = proxy.Token(scopes, "*/*") };
        options.Tls.CaFile = proxy.CaFile;
        return new BillingAdminClient(options);
    }
}
