using System.Net.Http.Json;
using Billing.Driver.Channels;
using Billing.V1;

namespace Billing.Misuse.Watching;

/// <summary>Payments over REST with a token, on connections that are made anew every few seconds, as new callers
/// make them.</summary>
internal sealed class RestPayments(string address, Func<SocketsHttpHandler> connect, string token) : IRequestChannel
{
    /// <summary>The most connections at once.</summary>
    public const int ConnectionsMax = 32;

    private static readonly TimeSpan ConnectionAge = TimeSpan.FromSeconds(2);

    private readonly HttpClient _http = Create(address, connect(), token);

    public async Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request)
    {
        try
        {
            using var answer = await _http.PutAsJsonAsync(
                $"/v1/payments/{request.TransactionId}",
                new
                {
                    account_id = request.AccountId,
                    payment_type = request.PaymentType.ToString(),
                    amount = new
                    {
                        currency_code = request.Amount.CurrencyCode,
                        units = request.Amount.Units,
                        nanos = request.Amount.Nanos,
                    },
                });
            return answer.IsSuccessStatusCode
                ? new Answer<MakePaymentResponse>(new MakePaymentResponse())
                : new Answer<MakePaymentResponse>(null, $"REST: {(int)answer.StatusCode}");
        }
        catch (Exception e) when (e is HttpRequestException or OperationCanceledException)
        {
            return new Answer<MakePaymentResponse>(null, "REST: " + e.Message);
        }
    }

    public Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request) =>
        throw new NotSupportedException("Only payments are made beside hostile callers.");

    public ValueTask DisposeAsync()
    {
        _http.Dispose();
        return ValueTask.CompletedTask;
    }

    private static HttpClient Create(string address, SocketsHttpHandler handler, string token)
    {
        handler.PooledConnectionLifetime = ConnectionAge;
        handler.PooledConnectionIdleTimeout = ConnectionAge;
        handler.MaxConnectionsPerServer = ConnectionsMax;
        return new HttpClient(handler)
        {
            BaseAddress = new Uri(address),
            Timeout = OtherCallers.Deadline,
            DefaultRequestHeaders = { Authorization = new("Bearer", token) },
        };
    }
}
