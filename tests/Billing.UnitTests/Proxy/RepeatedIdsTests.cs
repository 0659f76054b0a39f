using System.Net;
using System.Net.Http.Headers;
using System.Reflection;
using System.Text.Json;
using Billing.Contracts;
using Billing.UnitTests.Testing;
using Billing.V1;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Grpc.Core;

namespace Billing.UnitTests.Proxy;

/// <summary>Ids come back in the letters in which they were sent, over every front, whatever the backend has recorded.</summary>
public sealed class RepeatedIdsTests : IAsyncLifetime
{
    private const string Money = """{"currency_code":"USD","units":1}""";
    private const string Account = "\"account_id\":\"acct-1\",\"payment_type\":\"visa\"";

    private static readonly string Id = Guid.NewGuid().ToString().ToUpperInvariant();
    private static readonly string Payment = Guid.NewGuid().ToString().ToUpperInvariant();

    // By the route and its method.
    private static readonly Dictionary<string, string> Bodies = new(StringComparer.Ordinal)
    {
        ["PUT /v1/payments/{transaction_id}"] = $$"""{{{Account}},"amount":{{Money}}}""",
        ["POST /v1/transactions/{transaction_id}/lookup"] = $$"""{{{Account}}}""",
        ["PUT /v1/authorisations/{transaction_id}"] = $$"""{{{Account}},"amount":{{Money}}}""",
        ["PUT /v1/captures/{transaction_id}"] = $$"""{{{Account}},"payment_id":"{{Payment}}","amount":{{Money}}}""",
        ["PUT /v1/voids/{transaction_id}"] = $$"""{{{Account}},"payment_id":"{{Payment}}"}""",
        ["PUT /v1/refunds/{transaction_id}"] = $$"""{{{Account}},"payment_id":"{{Payment}}","amount":{{Money}}}""",
        ["PUT /v1/accounts/{payment_type}/{account_id}/credit-limit"] = $$"""{"transaction_id":"{{Id}}","limit":{{Money}}}""",
        ["PUT /v1/accounts/{payment_type}/{account_id}/status"] = $$"""{"transaction_id":"{{Id}}","account_status":"FROZEN"}""",
    };

    // Their answers have no ids, or show what is recorded; or, of the status of a payment, are followed from the answer to the payment.
    private static readonly string[] Others =
    [
        "GET /v1/payments/{transaction_id}/status", "GET /v1/accounts/{payment_type}/{account_id}/balance", "POST /v1/balances/lookup",
        "GET /v1/accounts/{payment_type}/{account_id}/statement", "POST /v1/statements/lookup",
    ];

    private readonly FakeBackend _backend = new(storesCommands: true) { Answer = command => Task.FromResult(MessageIds.AnswerTo(command)) };
    private readonly HttpClient _http = new();
    private ProxyHost _proxy = null!;

    public static TheoryData<string> Methods =>
        [.. BillingReflection.Descriptor.Services.SelectMany(service => service.Methods).Where(IsOfIds).Select(method => method.FullName)];

    public static TheoryData<string> Routes => [.. Bodies.Keys];

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
        var method = BillingReflection.Descriptor.Services.SelectMany(service => service.Methods).Single(method => method.FullName == name);
        var request = MessageIds.RequestOf(method.InputType);
        var call = GetType().GetMethod(nameof(CallAsync), BindingFlags.NonPublic | BindingFlags.Instance)!.MakeGenericMethod(method.InputType.ClrType, method.OutputType.ClrType);

        var answer = await (Task<IMessage>)call.Invoke(this, [method, request])!;

        var sent = MessageIds.Of(request).ToDictionary(id => id.Name, id => id.Get());
        Assert.All(MessageIds.Of(answer).Where(id => sent.ContainsKey(id.Name)), id => Assert.Equal(sent[id.Name], id.Get()));
    }

    [Fact]
    public async Task On_a_stream_of_payments()
    {
        var payments = Enumerable.Range(0, 3).Select(_ => (MakePaymentRequest)MessageIds.RequestOf(MakePaymentRequest.Descriptor)).ToList();
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
    [MemberData(nameof(Routes))]
    public async Task Over_REST(string route)
    {
        var (status, answer, _) = await SendAsync(route);
        answer = answer.TryGetProperty("entry", out var entry) ? entry : answer;

        Assert.Equal(HttpStatusCode.OK, status);
        Assert.Equal(Id, Text(answer, "transaction_id"));
        Assert.Equal(Bodies[route].Contains("payment_id", StringComparison.Ordinal) ? Payment : null, entry.ValueKind == JsonValueKind.Object ? null : Text(answer, "payment_id"));
    }

    [Fact]
    public async Task In_the_answer_to_a_queued_payment_and_in_its_status()
    {
        var (status, taken, location) = await SendAsync("PUT /v1/payments/{transaction_id}", "respond-async");
        using var accepted = JsonDocument.Parse(await _http.GetStringAsync(new Uri(_proxy.Rest, location!)));
        _backend.Answer = command => Task.FromResult(new Wire.V1.Reply { PaymentStatus = new() { Error = new() { Reason = ErrorReasons.CommandExpired } } });
        using var failed = JsonDocument.Parse(await _http.GetStringAsync(new Uri(_proxy.Rest, location!)));

        Assert.Equal(HttpStatusCode.Accepted, status);
        Assert.Equal(("PENDING", Id), (Text(taken, "status"), Text(taken, "transaction_id")));
        Assert.Equal(("ACCEPTED", Id), (Text(accepted.RootElement, "status"), Text(accepted.RootElement, "transaction_id")));
        Assert.Equal(("FAILED", Id), (Text(failed.RootElement, "status"), Text(failed.RootElement, "transaction_id")));
    }

    [Fact]
    public void These_are_all_the_routes() => Assert.Equal(
        Bodies.Keys.Concat(Others).Order(StringComparer.Ordinal),
        _proxy.Endpoints.Where(route => route.RoutePattern.RawText!.StartsWith("/v1/", StringComparison.Ordinal))
            .SelectMany(route => route.Metadata.OfType<Microsoft.AspNetCore.Routing.HttpMethodMetadata>().Single().HttpMethods.Select(method => $"{method} {route.RoutePattern.RawText}"))
            .Order(StringComparer.Ordinal));

    private static bool IsOfIds(MethodDescriptor method) =>
        !method.IsClientStreaming && !method.IsServerStreaming && MessageIds.Of(MessageIds.AnswerOf(method.OutputType)).Any();

    private async Task<IMessage> CallAsync<TRequest, TAnswer>(MethodDescriptor method, TRequest request)
        where TRequest : class, IMessage<TRequest>, new()
        where TAnswer : class, IMessage<TAnswer>, new()
    {
        static Marshaller<T> Of<T>()
            where T : IMessage<T>, new() => Marshallers.Create(message => message.ToByteArray(), new MessageParser<T>(() => new T()).ParseFrom);

        return await _proxy.Invoker.AsyncUnaryCall(
            new Method<TRequest, TAnswer>(MethodType.Unary, method.Service.FullName, method.Name, Of<TRequest>(), Of<TAnswer>()), null, new CallOptions(), request);
    }

    private async Task<(HttpStatusCode Status, JsonElement Answer, Uri? Location)> SendAsync(string route, string? prefer = null)
    {
        var path = route.Split(' ')[1].Replace("{transaction_id}", Id, StringComparison.Ordinal).Replace("{payment_type}", "Visa", StringComparison.Ordinal)
            .Replace("{account_id}", "acct-1", StringComparison.Ordinal);
        using var request = new HttpRequestMessage(new HttpMethod(route.Split(' ')[0]), new Uri(_proxy.Rest, path));
        request.Content = new StringContent(Bodies[route], new MediaTypeHeaderValue("application/json"));
        if (prefer is not null)
        {
            request.Headers.Add("Prefer", prefer);
        }
        using var response = await _http.SendAsync(request);
        using var json = JsonDocument.Parse(await response.Content.ReadAsStringAsync());
        return (response.StatusCode, json.RootElement.Clone(), response.Headers.Location);
    }

    private static string? Text(JsonElement json, string name) => json.TryGetProperty(name, out var value) ? value.GetString() : null;
}
