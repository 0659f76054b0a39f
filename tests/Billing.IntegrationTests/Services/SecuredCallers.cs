using System.Text.RegularExpressions;
using Billing.Driver;
using Billing.V1;
using Grpc.Core;
using Npgsql;

namespace Billing.IntegrationTests.Services;

/// <summary>Programs of the platform that call proxies with TLS and tokens, and what is to be read without.</summary>
[Collection(OverTls.Name)]
public sealed class SecuredCallers(SecuredStack stack) : IDisposable
{
    private readonly SecuredStack _stack =
        stack.Missing is null ? stack : throw Xunit.Sdk.SkipException.ForSkip(stack.Missing);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory();

    public void Dispose() => _folder.Delete(recursive: true);

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_audit_asks_for_balances_with_an_authority_and_a_token_and_is_refused_without()
    {
        var (journal, token) = (FileOf("journal.csv"), FileOf("token"));
        await File.WriteAllTextAsync(token, _stack.Token("payments:write accounts:read", "*/*"), Stop);
        await using (var driver = new LoadDriver(
            new LoadSpec
            {
                Addresses = _stack.Stack.ProxyAddresses,
                Shape = new LoadShape.Burst(50),
                CaFile = _stack.Credentials.CaFile,
                TokenFile = token,
                Journal = journal,
            },
            TimeProvider.System))
        {
            Assert.Equal(50, (await driver.RunAsync(CancellationToken.None)).Phases[0].Payments.Ok);
        }

        var audited = await AuditAsync("--ca", _stack.Credentials.CaFile, "--token-file", token);
        var refused = await AuditAsync("--ca", _stack.Credentials.CaFile);

        Assert.Contains("balances read from the proxies and compared", audited.Output, StringComparison.Ordinal);
        Assert.Equal(0, audited.ExitCode);
        Assert.Contains(
            "the proxies return no balance: Unauthenticated", refused.Output, StringComparison.Ordinal);
        Assert.NotEqual(0, refused.ExitCode);

        Task<(int ExitCode, string Output)> AuditAsync(params string[] access) => CommandRun.ToEndAsync(
            _stack.Stack.Folder,
            [
                "audit", "--postgres", _stack.ConnectionString, "--opening-limit", "unknown",
                "--proxies", string.Join(',', _stack.Stack.ProxyAddresses), .. access, journal,
            ],
            program: CommandRun.Operator);
    }

    [Fact]
    public async Task Metrics_and_health_of_no_service_have_an_account_an_amount_a_password_or_a_token()
    {
        var payment = StackFixture.Payment();
        payment.AccountId = "needle-of-an-account";
        payment.Amount = new Money { CurrencyCode = "USD", Units = 7391, Nanos = 530_000_000 };
        var good = _stack.Token("payments:write accounts:read", "*/*");
        var bad = good[..^3] + "AAA";
        var client = new BillingService.BillingServiceClient(_stack.Channel());
        var paid = await client.MakePaymentAsync(payment, Bearer(good));
        await client.CheckBalanceAsync(
            new CheckBalanceRequest
            {
                AccountId = payment.AccountId,
                PaymentType = payment.PaymentType,
                MinVersion = paid.Version,
            },
            Bearer(good));
        await Assert.ThrowsAsync<RpcException>(() => client.MakePaymentAsync(payment, Bearer(bad)).ResponseAsync);
        using var http = new HttpClient(_stack.Credentials.Handler());
        foreach (var path in (string[])["v1/accounts/VISA/needle-of-an-account/balance", "v1/needle-of-an-account"])
        {
            using var answer = await http.GetAsync(new Uri($"{_stack.Stack.RestAddresses[0]}/{path}"), Stop);
        }

        var shown = new List<string>();
        foreach (var service in _stack.Stack.Services)
        {
            foreach (var path in (string[])["metrics", "health/ready", "health/live"])
            {
                shown.Add(await http.GetStringAsync(
                    new Uri($"{service.AdminAddress ?? service.Address}/{path}"), Stop));
            }
        }
        string[] secrets =
        [
            payment.AccountId, payment.TransactionId, good, bad, "somebody",
            .. _stack.Credentials.Brokers.Passwords.Values,
            new NpgsqlConnectionStringBuilder(_stack.ConnectionString).Password!,
        ];

        Assert.Equal(4, shown.Count(text => text.Contains("target_info{", StringComparison.Ordinal)));
        Assert.Contains(shown, text => text.Contains("rpc_server_call_duration_seconds", StringComparison.Ordinal));
        Assert.Contains(shown, text => text.Contains("billing_commands_total", StringComparison.Ordinal));
        // In units, in hundredths, or in both of the API's parts.
        Assert.DoesNotContain(
            shown, text => Regex.IsMatch(text, @"(?<![\d.])(7391\.53|739153|7391|530000000)(?![\d.])"));
        Assert.All(
            secrets, secret => Assert.DoesNotContain(
                shown, text => text.Contains(secret, StringComparison.OrdinalIgnoreCase)));
    }

    private static Metadata Bearer(string token) => new() { { "authorization", "Bearer " + token } };

    private string FileOf(string name) => Path.Combine(_folder.FullName, name);
}
