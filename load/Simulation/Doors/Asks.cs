using System.Globalization;
using System.Text;
using Billing.Contracts;
using Billing.V1;
using Google.Protobuf;

namespace Billing.Simulation.Doors;

/// <summary>The kinds of requests that are answered once, each with its URL and its method.</summary>
internal static class Asks
{
    public static Ask<MakePaymentRequest, MakePaymentResponse> Payment { get; } = new()
    {
        IsWrite = true,
        ToRest = (request, letters) => Put("payments", request.TransactionId, request, letters),
        Method = proxy => proxy.Billing.MakePayment,
        Call = (stubs, request, options) => stubs.Billing.MakePaymentAsync(request, options),
    };

    public static Ask<AuthorisePaymentRequest, AuthorisePaymentResponse> Authorise { get; } = new()
    {
        IsWrite = true,
        ToRest = (request, letters) => Put("authorisations", request.TransactionId, request, letters),
        Method = proxy => proxy.Billing.AuthorisePayment,
        Call = (stubs, request, options) => stubs.Billing.AuthorisePaymentAsync(request, options),
    };

    public static Ask<CapturePaymentRequest, CapturePaymentResponse> Capture { get; } = new()
    {
        IsWrite = true,
        ToRest = (request, letters) => Put("captures", request.TransactionId, request, letters),
        Method = proxy => proxy.Billing.CapturePayment,
        Call = (stubs, request, options) => stubs.Billing.CapturePaymentAsync(request, options),
    };

    public static Ask<VoidPaymentRequest, VoidPaymentResponse> Void { get; } = new()
    {
        IsWrite = true,
        ToRest = (request, letters) => Put("voids", request.TransactionId, request, letters),
        Method = proxy => proxy.Billing.VoidPayment,
        Call = (stubs, request, options) => stubs.Billing.VoidPaymentAsync(request, options),
    };

    public static Ask<RefundPaymentRequest, RefundPaymentResponse> Refund { get; } = new()
    {
        IsWrite = true,
        ToRest = (request, letters) => Put("refunds", request.TransactionId, request, letters),
        Method = proxy => proxy.Billing.RefundPayment,
        Call = (stubs, request, options) => stubs.Billing.RefundPaymentAsync(request, options),
    };

    public static Ask<SetCreditLimitRequest, SetCreditLimitResponse> CreditLimit { get; } = new()
    {
        IsWrite = true,
        ToRest = (request, letters) => new(
            "PUT", Account(request.PaymentType, request.AccountId, letters) + "/credit-limit",
            Body(request, letters, "account_id", "payment_type")),
        Method = proxy => proxy.Admin.SetCreditLimit,
        Call = (stubs, request, options) => stubs.Admin.SetCreditLimitAsync(request, options),
    };

    public static Ask<SetAccountStatusRequest, SetAccountStatusResponse> AccountStatus { get; } = new()
    {
        IsWrite = true,
        ToRest = (request, letters) => new(
            "PUT", Account(request.PaymentType, request.AccountId, letters) + "/status",
            Body(request, letters, "account_id", "payment_type")),
        Method = proxy => proxy.Admin.SetAccountStatus,
        Call = (stubs, request, options) => stubs.Admin.SetAccountStatusAsync(request, options),
    };

    public static Ask<GetTransactionRequest, GetTransactionResponse> Lookup { get; } = new()
    {
        ToRest = (request, letters) =>
            new("POST", $"/v1/transactions/{request.TransactionId}/lookup", Body(request, letters, "transaction_id")),
        Method = proxy => proxy.Billing.GetTransaction,
        Call = (stubs, request, options) => stubs.Billing.GetTransactionAsync(request, options),
    };

    public static Ask<CheckBalanceRequest, CheckBalanceResponse> Balance { get; } = new()
    {
        ToRest = (request, letters) => new(
            "GET", Account(request.PaymentType, request.AccountId, letters) + "/balance"
                + (request.MinVersion > 0 ? $"?min_version={Text(request.MinVersion)}" : "")),
        Method = proxy => proxy.Billing.CheckBalance,
        Call = (stubs, request, options) => stubs.Billing.CheckBalanceAsync(request, options),
    };

    public static Ask<GetBalanceAtRequest, GetBalanceAtResponse> BalanceAt { get; } = new()
    {
        ToRest = (request, letters) => new("POST", "/v1/balances/lookup", Body(request, letters)),
        Method = proxy => proxy.Billing.GetBalanceAt,
        Call = (stubs, request, options) => stubs.Billing.GetBalanceAtAsync(request, options),
    };

    public static Ask<ListStatementRequest, ListStatementResponse> Statement { get; } = new()
    {
        // With the account in the body or in the URL.
        ToRest = (request, letters) => letters == Letters.Mixed
            ? new("GET", $"{Account(request.PaymentType, request.AccountId, letters)}/statement{QueryOf(request)}")
            : new("POST", "/v1/statements/lookup", Body(request, letters)),
        Method = proxy => proxy.Billing.ListStatement,
        Call = (stubs, request, options) => stubs.Billing.ListStatementAsync(request, options),
    };

    /// <summary>The kind of a request.</summary>
    public static IAsk Of(Type request) => ByRequest[request];

    /// <summary>A payment that its caller does not wait for.</summary>
    public static RestAsk QueuedPayment(MakePaymentRequest request, Letters letters) =>
        Payment.ToRest(request, letters) with { IsAsync = true };

    private static readonly Dictionary<Type, IAsk> ByRequest = typeof(Asks).GetProperties().ToDictionary(
        ask => ask.PropertyType.GenericTypeArguments[0], ask => (IAsk)ask.GetValue(null)!);

    private static string QueryOf(ListStatementRequest request)
    {
        var query = new StringBuilder(
            $"?after_version={Text(request.AfterVersion)}&page_size={Text(request.PageSize)}");
        foreach (var type in request.Types_)
        {
            query.Append("&types=").Append(ShortNames.In<StatementEntryType>().Of((int)type));
        }
        if (request.StartTime is { } from)
        {
            query.Append("&start_time=").Append(JsonFormatter.Default.Format(from).Trim('"'));
        }
        return query.Append("&page_token=").Append(request.PageToken).ToString();
    }

    private static RestAsk Put(string what, string id, IMessage request, Letters letters) =>
        new("PUT", $"/v1/{what}/{id}", Body(request, letters, "transaction_id"));

    private static string Account(PaymentType type, string id, Letters letters) =>
        $"/v1/accounts/{letters.Write(Name(type))}/{Uri.EscapeDataString(id)}";

    // The contract's own JSON, without what the URL has, and with the payment type in the caller's letters.
    private static string Body(IMessage request, Letters letters, params ReadOnlySpan<string> inUrl)
    {
        var body = RequestOf(request);
        foreach (var name in inUrl)
        {
            body.Descriptor.FindFieldByName(name).Accessor.Clear(body);
        }
        var json = RestJson.Write(body);
        var type = request.Descriptor.FindFieldByName("payment_type").Accessor.GetValue(request) is PaymentType set
            ? set
            : (PaymentType?)null;
        return type is { } known && !inUrl.Contains("payment_type")
            ? json.Replace($"\"{Name(known)}\"", $"\"{letters.Write(Name(known))}\"", StringComparison.Ordinal)
            : json;
    }

    private static IMessage RequestOf(IMessage request) => request.Descriptor.Parser.ParseFrom(request.ToByteArray());

    private static string Name(PaymentType type) => type.ToString().ToUpperInvariant();

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}
