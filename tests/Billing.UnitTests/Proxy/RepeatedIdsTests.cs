using System.Net;
using System.Text.Json;
using System.Text.Json.Nodes;
using Billing.Contracts;
using Billing.UnitTests.Proxy.Rest;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;

namespace Billing.UnitTests.Proxy;

/// <summary>Ids come back in the letters in which they were sent, over every front, whatever the backend has
/// recorded.</summary>
public sealed class RepeatedIdsTests : IAsyncLifetime
{
    private static readonly string Id = Guid.NewGuid().ToString().ToUpperInvariant();
    private static readonly string Payment = Guid.NewGuid().ToString().ToUpperInvariant();

    private readonly FakeBackend _backend =
        new(storesCommands: true) { Answer = command => Task.FromResult(MessageIds.AnswerTo(command)) };
    private readonly HttpClient _http = new();
    private ProxyHost _proxy = null!;

    public static TheoryData<string> Methods =>
        [.. ApiMethods.Unary.Where(
            method => MessageIds.Of(MessageIds.AnswerOf(ApiMethods.Of(method.Data).OutputType)).Any())];

    /// <summary>The operations whose answer, or the entry in it, has an id.</summary>
    public static TheoryData<string> Operations =>
        [.. ApiDocument.Recorded.Operations.Where(IsOfIds).Select(operation => operation.Id)];

    public async ValueTask InitializeAsync() => _proxy = await ProxyHost.StartAsync(_backend, withRest: true);

    public ValueTask DisposeAsync()
    {
        _http.Dispose();
        return _proxy.DisposeAsync();
    }

    [Theory]
    [MemberData(nameof(Methods))]
    public async Task Over_gRPC(string name)
    {
        var request = MessageIds.RequestOf(ApiMethods.Of(name).InputType);

        var answer = await ApiMethods.CallAsync(_proxy.Invoker, name, request);

        var sent = MessageIds.Of(request).ToDictionary(id => id.Name, id => id.Get());
        Assert.All(
            MessageIds.Of(answer).Where(id => sent.ContainsKey(id.Name)), id => Assert.Equal(sent[id.Name], id.Get()));
    }

    [Fact]
    public async Task On_a_stream_of_payments()
    {
        var payments = Enumerable.Range(0, 3)
            .Select(_ => (MakePaymentRequest)MessageIds.RequestOf(MakePaymentRequest.Descriptor)).ToList();
        using var stream = _proxy.Client.MakePayments();
        foreach (var payment in payments)
        {
            await stream.RequestStream.WriteAsync(payment);
        }
        await stream.RequestStream.CompleteAsync();

        var answered = new List<string>();
        await foreach (var answer in stream.ResponseStream.ReadAllAsync())
        {
            answered.Add(answer.TransactionId);
        }

        Assert.Equal(payments.Select(payment => payment.TransactionId).Order(), answered.Order());
    }

    [Theory]
    [MemberData(nameof(Operations))]
    public async Task Over_REST(string id)
    {
        var (status, answer, _, body) = await SendAsync(id);
        var isRecord = answer.TryGetProperty("entry", out var entry);

        Assert.Equal(HttpStatusCode.OK, status);
        Assert.Equal(Id, Text(isRecord ? entry : answer, "transaction_id"));
        Assert.True(body?["payment_id"] is null || Text(answer, "payment_id") == Payment);
    }

    [Fact]
    public async Task In_the_answer_to_a_queued_payment_and_in_its_status()
    {
        var (status, taken, location, _) = await SendAsync("makePayment", "respond-async");
        using var accepted = JsonDocument.Parse(await _http.GetStringAsync(new Uri(_proxy.Rest, location!)));
        _backend.Answer = command => Task.FromResult(
            new Wire.V1.Reply { PaymentStatus = new() { Error = new() { Reason = ErrorReasons.CommandExpired } } });
        using var failed = JsonDocument.Parse(await _http.GetStringAsync(new Uri(_proxy.Rest, location!)));

        Assert.Equal(HttpStatusCode.Accepted, status);
        Assert.Equal(("PENDING", Id), (Text(taken, "status"), Text(taken, "transaction_id")));
        Assert.Equal(
            ("ACCEPTED", Id), (Text(accepted.RootElement, "status"), Text(accepted.RootElement, "transaction_id")));
        Assert.Equal(("FAILED", Id), (Text(failed.RootElement, "status"), Text(failed.RootElement, "transaction_id")));
    }

    private static bool IsOfIds(ApiOperation operation)
    {
        var fields = ApiDocument.Recorded.Resolve(operation.AnswerOf("200"))["properties"]!;
        return fields["transaction_id"] is not null || fields["entry"] is not null;
    }

    private async Task<(HttpStatusCode Status, JsonElement Answer, Uri? Location, JsonObject? Body)> SendAsync(
        string id, string? prefer = null)
    {
        var operation = ApiDocument.Recorded.Operation(id);
        var body = ApiDocument.Recorded.Body(operation, ValueOf, ApiDocument.IsRequired);
        using var request = operation.Request(_proxy.Rest, body?.ToJsonString(), prefer, Id);
        using var response = await _http.SendAsync(request);
        using var json = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        return (response.StatusCode, json.RootElement.Clone(), response.Headers.Location, body);
    }

    private static JsonNode ValueOf(string field) => field switch
    {
        "transaction_id" => Id,
        "payment_id" => Payment,
        _ => ApiDocument.ValueOf(field),
    };

    private static string? Text(JsonElement json, string name) =>
        json.TryGetProperty(name, out var value) ? value.GetString() : null;
}
