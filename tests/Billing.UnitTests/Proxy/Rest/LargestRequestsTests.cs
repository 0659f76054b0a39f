using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using Billing.Contracts;
using Billing.Proxy;
using Billing.Proxy.Calls;
using Billing.UnitTests.Testing;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;

namespace Billing.UnitTests.Proxy.Rest;

/// <summary>The largest requests that the rules allow, one for each operation with a body, in each encoding, by the
/// default settings.</summary>
public sealed class LargestRequestsTests
{
    private static readonly string Note = string.Concat(Enumerable.Repeat("\U0001F600", FieldRules.NoteLengthMax));

    private static readonly Dictionary<string, Func<JsonNode, string>> Encodings = new(StringComparer.Ordinal)
    {
        ["UTF-8"] = body =>
            body.ToJsonString(new JsonSerializerOptions { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping }),
        ["escapes beyond ASCII"] = body => body.ToJsonString(),
        ["escapes only"] = Escaped,
    };

    private readonly FakeBackend _backend = new() { Answer = command => Task.FromResult(CompleteReplies.To(command)) };

    public static TheoryData<string, string> Table =>
    [
        .. Operations.SelectMany(operation => Encodings.Keys, (operation, encoding) => (operation, encoding)),
    ];

    public static TheoryData<string> Operations =>
    [
        .. ApiDocument.Recorded.Operations.Where(operation => operation.Json["requestBody"] is not null)
            .Select(operation => operation.Id),
    ];

    [Theory]
    [MemberData(nameof(Table))]
    public async Task The_largest_request_is_accepted_in_every_encoding_of_JSON(string id, string encoding)
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var document = await ApiDocument.ReadAsync(proxy);

        var (body, _) = await SendAsync(proxy, document, id, Encodings[encoding]);

        Assert.InRange(Encoding.UTF8.GetByteCount(body), 1, new ProxyOptions().RequestBytesMax);
    }

    /// <summary>As the backend gets it from a proxy.</summary>
    [Theory]
    [MemberData(nameof(Operations))]
    public async Task The_largest_request_is_accepted_over_gRPC(string id)
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var (_, command) = await SendAsync(proxy, await ApiDocument.ReadAsync(proxy), id, Encodings["UTF-8"]);
        _backend.Answer = command => Task.FromResult(CompleteReplies.To(command));

        var name = ApiMethods.Unary.Select(method => method.Data)
            .Single(name => JsonNamingPolicy.CamelCase.ConvertName(name) == id);
        var field = Command.Descriptor.FindFieldByNumber((int)command.RequestCase);
        var request = ApiMethods.Of(name).InputType == field.MessageType
            ? (IMessage)field.Accessor.GetValue(command)
            : Statement();
        await ApiMethods.CallAsync(proxy.Invoker, name, request);
    }

    private async Task<(string Body, Command Command)> SendAsync(
        ProxyHost proxy, ApiDocument document, string id, Func<JsonNode, string> encode)
    {
        var operation = document.Operation(id);
        var body = encode(document.Body(operation, ValueOf, (_, field) => field != "version" || id != "getBalanceAt")!);
        using var http = new HttpClient();
        using var request = operation.Request(proxy.Rest, body);
        using var answer = await http.SendAsync(request);
        Assert.True(answer.IsSuccessStatusCode, $"{body.Length}: {await answer.Content.ReadAsStringAsync()}");
        return (body, _backend.Commands.Last());
    }

    private static ListStatementRequest Statement()
    {
        var request = new ListStatementRequest
        {
            AccountId = ValueOf("account_id").GetValue<string>(),
            PaymentType = PaymentType.Mastercard,
            StartTime = JsonParser.Default.Parse<Google.Protobuf.WellKnownTypes.Timestamp>(
                ValueOf("start_time").ToJsonString()),
            EndTime = JsonParser.Default.Parse<Google.Protobuf.WellKnownTypes.Timestamp>(
                ValueOf("end_time").ToJsonString()),
            Types_ = { Enum.GetValues<StatementEntryType>().Where(type => type != StatementEntryType.Unspecified) },
            AfterVersion = long.MaxValue,
            PageSize = int.MaxValue,
        };
        request.PageToken = PageToken.Of(request, long.MaxValue - 1);
        return request;
    }

    private static JsonNode ValueOf(string field) => field switch
    {
        "account_id" => new string('a', FieldRules.AccountIdLengthMax),
        "payment_type" => Longest<PaymentType>(),
        "account_status" => Longest<AccountStatus>(),
        "currency_code" => "UYW",
        "units" => (FieldRules.AmountUnitsMax - 1).ToString(CultureInfo.InvariantCulture),
        "nanos" => 999_900_000,
        "hold_duration" => string.Create(CultureInfo.InvariantCulture, $"{FieldRules.HoldSecondsMax}s"),
        "is_final" => false,
        "reference" => Note,
        "metadata" =>
            new JsonObject(Enumerable.Range(0, FieldRules.MetadataPairsMax).Select(pair => KeyValuePair.Create(
                pair.ToString(CultureInfo.InvariantCulture).PadLeft(FieldRules.MetadataNameLengthMax, 'n'),
                (JsonNode?)Note))),
        "version" or "after_version" => long.MaxValue,
        "time" or "end_time" => "9999-12-31T23:59:59.999999999Z",
        "start_time" => "0001-01-01T00:00:00.999999999Z",
        "types" => new JsonArray([.. ShortNames.In<StatementEntryType>().All.Select(name => (JsonNode)name)]),
        "page_size" => int.MaxValue,
        "page_token" => Statement().PageToken,
        "transaction_id" or "payment_id" => Samples.TransactionId,
        _ => throw new NotSupportedException(field),
    };

    private static string Longest<T>()
        where T : struct, Enum => ShortNames.In<T>().All.MaxBy(name => name.Length)!;

    // With an escape for each unit of every text, the names included.
    private static string Escaped(JsonNode? node) => node switch
    {
        JsonObject fields =>
            $"{{{string.Join(',', fields.Select(field => $"{Escaped(field.Key)}:{Escaped(field.Value)}"))}}}",
        JsonArray items => $"[{string.Join(',', items.Select(Escaped))}]",
        JsonValue text when text.GetValueKind() == JsonValueKind.String => Escaped(text.GetValue<string>()),
        _ => node!.ToJsonString(),
    };

    private static string Escaped(string text) =>
        $"\"{string.Concat(text.Select(unit => string.Create(CultureInfo.InvariantCulture, $"\\u{(int)unit:x4}")))}\"";
}
