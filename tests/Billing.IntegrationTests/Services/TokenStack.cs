using Billing.IntegrationTests.Telemetry;
using Billing.LocalStack;
using Billing.Operator.Credentials;
using Grpc.Core;

namespace Billing.IntegrationTests.Services;

/// <summary>A stack in one process whose callers need tokens, and of which no call is traced that nobody forces.
/// </summary>
public sealed class TokenStack() : StackFixture(
    new StackOptions
    {
        Kafka = "embedded",
        PaymentBackends = 1,
        BalanceBackends = 1,
        SettingsOf = (stack, _, _) =>
        {
            var keys = Path.Combine(stack.Folder.FullName, "jwks.json");
            File.WriteAllText(keys, Tokens.Jwks);
            return new Dictionary<string, string>
            {
                ["Billing__Auth__JwksFile"] = keys,
                ["Billing__Auth__Issuer"] = TokenIssuer.Issuer,
                ["Billing__Auth__Audience"] = TokenIssuer.Audience,
                ["Billing__Telemetry__TraceRatio"] = "0",
            };
        },
    },
    OtlpReceiver.WatchAsync)
{
    private static readonly TokenIssuer Tokens = TokenIssuer.New(TimeProvider.System);

    /// <summary>A token, by default for all accounts.</summary>
    public static string Token(string[] scopes, string accounts = "*/*", string subject = "shop") =>
        Tokens.Issue(subject, scopes, [accounts], TimeSpan.FromMinutes(10));

    /// <summary>The header with a token.</summary>
    public static Metadata Bearer(string accounts, params string[] scopes) =>
        new() { { "authorization", "Bearer " + Token(scopes, accounts) } };
}

/// <summary>Tests that share one stack whose callers need tokens.</summary>
[CollectionDefinition(Name)]
public sealed class WithTokens : ICollectionFixture<TokenStack>
{
    public const string Name = "With tokens";
}
