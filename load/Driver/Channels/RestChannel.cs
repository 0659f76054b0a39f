using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.V1;

namespace Billing.Driver.Channels;

/// <summary>Sends HTTP/1.1 requests in JSON, pipelined on one connection. When the connection breaks, the requests in
/// flight fail, and the next request opens a new connection.</summary>
internal sealed class RestChannel(string address) : IRequestChannel
{
    private readonly Uri _server = new(address);
    private readonly Lock _opening = new();
    private PipelinedConnection? _connection;

    public Task<Answer<MakePaymentResponse>> PayAsync(MakePaymentRequest request)
    {
        var amount = request.Amount;
        var body = string.Create(CultureInfo.InvariantCulture,
            $$$"""{"account_id":"{{{request.AccountId}}}","payment_type":"{{{request.PaymentType}}}","amount":"""
                + $$$"""{"currency_code":"{{{amount.CurrencyCode}}}","units":{{{amount.Units}}},"nanos":"""
                + $$$"""{{{amount.Nanos}}}}}""");
        return AnswerAsync(
            string.Create(CultureInfo.InvariantCulture,
                $"PUT /v1/payments/{request.TransactionId} HTTP/1.1\r\nHost: {_server.Authority}\r\nContent-Type: "
                    + $"application/json\r\nContent-Length: {body.Length}\r\n\r\n{body}"),
            answer => new MakePaymentResponse
            {
                TransactionId = request.TransactionId,
                Outcome = Enum.Parse<PaymentOutcome>(answer.Outcome ?? "", ignoreCase: true),
                Balance = answer.Balance?.ToMoney(),
                Version = answer.Version,
            });
    }

    public Task<Answer<CheckBalanceResponse>> CheckAsync(CheckBalanceRequest request) => AnswerAsync(
        $"GET /v1/accounts/{request.PaymentType}/{request.AccountId}/balance HTTP/1.1\r\nHost: "
            + $"{_server.Authority}\r\n\r\n",
        answer => new CheckBalanceResponse { Balance = answer.Balance?.ToMoney(), Version = answer.Version });

    public async ValueTask DisposeAsync()
    {
        if (_connection is { } connection)
        {
            await connection.DisposeAsync();
        }
    }

    private async Task<Answer<T>> AnswerAsync<T>(string request, Func<RestAnswer, T> read)
        where T : class
    {
        var answer = await SendAsync(Encoding.ASCII.GetBytes(request));
        return answer.Error.Length > 0
            ? new Answer<T>(null, answer.Error)
            : answer.Status is >= 200 and < 300
            ? new Answer<T>(read(JsonSerializer.Deserialize(answer.Body, RestAnswers.Default.RestAnswer)))
            : new Answer<T>(
                null, answer.Status.ToString(CultureInfo.InvariantCulture),
                IsFinal: answer.Status is 400 or 401 or 403 or 404);
    }

    private Task<HttpAnswer> SendAsync(byte[] request)
    {
        lock (_opening)
        {
            if (_connection is null or { HasEnded: true })
            {
                _connection = new PipelinedConnection(_server);
            }
            return _connection.SendAsync(request);
        }
    }
}

/// <summary>The members of the proxy's answers that a journal needs.</summary>
internal readonly record struct RestAnswer(string? Outcome, RestMoney? Balance, long Version);

/// <summary>An amount in the proxy's answers.</summary>
internal sealed record RestMoney(string CurrencyCode, long Units, int Nanos)
{
    public Money ToMoney() => new() { CurrencyCode = CurrencyCode, Units = Units, Nanos = Nanos };
}

// The proxy writes 64-bit numbers as strings, as the JSON form of protobuf does.
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    NumberHandling = JsonNumberHandling.AllowReadingFromString)]
[JsonSerializable(typeof(RestAnswer))]
internal sealed partial class RestAnswers : JsonSerializerContext;
