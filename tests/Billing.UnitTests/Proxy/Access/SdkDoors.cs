using Billing.Client;
using Billing.Contracts;
using Billing.UnitTests.Proxy.Security;
using Billing.UnitTests.Testing;
using Grpc.Core;
using AccountStatus = Billing.Client.AccountStatus;
using PaymentType = Billing.V1.PaymentType;

namespace Billing.UnitTests.Proxy.Access;

/// <summary>Every call of the SDK, by the method of the API that it calls.</summary>
internal static class SdkDoors
{
    private static readonly CardAccount Account = new(CardNetwork.Visa, "acct");
    private static readonly Amount Dollar = new(1, "USD");
    private static readonly Guid Id = Guid.Parse(Samples.TransactionId);

    private static readonly Dictionary<string, Func<BillingClient, BillingAdminClient, Task<Rejection?>>> Calls = new()
    {
        ["MakePayment"] = async (sdk, _) => (await sdk.PayAsync(new Payment(Account, Dollar))).Rejected,
        ["MakePayments"] = async (sdk, _) =>
            (await sdk.PayAllAsync(new[] { new Payment(Account, Dollar) }.ToAsyncEnumerable()).FirstAsync()).Rejected,
        ["AuthorisePayment"] = async (sdk, _) => (await sdk.AuthoriseAsync(new Hold(Account, Dollar))).Rejected,
        ["CapturePayment"] = async (sdk, _) => (await sdk.CaptureAsync(new Capture(Account, Id, Dollar))).Rejected,
        ["VoidPayment"] = async (sdk, _) => (await sdk.VoidAsync(new HoldVoid(Account, Id))).Rejected,
        ["RefundPayment"] = async (sdk, _) => (await sdk.RefundAsync(new Refund(Account, Id, Dollar))).Rejected,
        ["CheckBalance"] = (sdk, _) => ReadAsync(sdk.GetBalanceAsync(Account)),
        ["GetBalanceAt"] = (sdk, _) => ReadAsync(sdk.GetBalanceAtAsync(Account, 1)),
        ["GetTransaction"] = (sdk, _) => ReadAsync(sdk.FindTransactionAsync(Account, Id)),
        ["ListStatement"] = (sdk, _) => ReadAsync(sdk.GetStatementPageAsync(Account)),
        ["StreamStatement"] = (sdk, _) => ReadAsync(sdk.ReadStatementAsync(Account).CountAsync().AsTask()),
        ["SetCreditLimit"] = async (_, admin) =>
            (await admin.SetCreditLimitAsync(new CreditLimitChange(Account, Dollar))).Rejected,
        ["SetAccountStatus"] = async (_, admin) =>
            (await admin.SetAccountStatusAsync(new AccountStatusChange(Account, AccountStatus.Frozen))).Rejected,
    };

    /// <summary>The methods that it calls.</summary>
    public static IEnumerable<string> Methods => Calls.Keys;

    public static IEnumerable<Door> Of(SecureProxy proxy)
    {
        // Calls are made one after the other.
        var token = "";
        var clients = new Dictionary<(Uri, bool), (BillingClient, BillingAdminClient)>();
        foreach (var address in (Uri[])[proxy.Grpc, proxy.Admin])
        {
            foreach (var hasToken in (bool[])[true, false])
            {
                var options = new BillingClientOptions
                {
                    Proxies = { address.AbsoluteUri },
                    TokenProvider = hasToken ? _ => ValueTask.FromResult(token) : null,
                };
                options.Tls.CaFile = proxy.CaFile;
                clients[(address, hasToken)] = (new(options), new(options));
            }
        }
        return Calls.Select(call => new Door("SDK", call.Key, PaymentType.Visa, "acct", async (address, bearer) =>
        {
            token = bearer ?? "";
            var (sdk, admin) = clients[(address, bearer is not null)];
            try
            {
                return await call.Value(sdk, admin) is { } refused ? ToldBy(refused.Reason, refused.Message) : Told.In;
            }
            catch (BillingException e)
            {
                return ToldBy(e.RejectionReason, e.Message);
            }
        }));
    }

    /// <summary>The SDK's reason for a status.</summary>
    public static RejectionReason ReasonFor(StatusCode status) => status switch
    {
        StatusCode.Unauthenticated => RejectionReason.NotAuthenticated,
        StatusCode.PermissionDenied => RejectionReason.NotAllowed,
        _ => RejectionReason.Other,
    };

    /// <summary>A word that is in the message of a refusal and of no other.</summary>
    public static string WordOf(string reason) => reason switch
    {
        ErrorReasons.TokenMissing => "has no token",
        ErrorReasons.ScopeMissing => "lacks the scope",
        ErrorReasons.AccountNotAllowed => "this account",
        ErrorReasons.NotServedHere => "admin address",
        _ => throw new InvalidOperationException(reason),
    };

    private static Told ToldBy(RejectionReason? reason, string message) => new(
        $"{reason}",
        ((string[])[ErrorReasons.TokenMissing, ErrorReasons.ScopeMissing, ErrorReasons.AccountNotAllowed,
            ErrorReasons.NotServedHere]).Select(WordOf)
            .FirstOrDefault(word => message.Contains(word, StringComparison.Ordinal)) ?? message);

    private static async Task<Rejection?> ReadAsync<T>(Task<T> reading)
    {
        await reading;
        return null;
    }
}
