using System.Globalization;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json.Nodes;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.UnitTests.Testing;

namespace Billing.UnitTests.Proxy.Rest;

/// <summary>The OpenAPI document of a proxy, and requests that follow from it.</summary>
internal sealed class ApiDocument
{
    private ApiDocument(string text)
    {
        Text = text;
        Root = JsonNode.Parse(text)!;
    }

    public string Text { get; }

    public JsonNode Root { get; }

    public JsonObject Schemas => Root["components"]!["schemas"]!.AsObject();

    public IEnumerable<ApiOperation> Operations => Root["paths"]!.AsObject()
        .SelectMany(
            path => path.Value!.AsObject().Select(method => new ApiOperation(path.Key, method.Key, method.Value!)));

    /// <summary>The document in the repository: a test compares it with the one that a proxy serves.</summary>
    public static ApiDocument Recorded { get; } =
        new(File.ReadAllText(Path.Combine(Repository.Root, "docs/openapi.json")));

    public static async Task<ApiDocument> ReadAsync(ProxyHost proxy)
    {
        using var http = new HttpClient();
        return new(await http.GetStringAsync(new Uri(proxy.Rest, "/openapi/v1.json")));
    }

    /// <summary>The operation of a name.</summary>
    public ApiOperation Operation(string id) => Assert.Single(Operations, operation => operation.Id == id);

    /// <summary>A valid value of a field that has no fields itself.</summary>
    /// <exception cref="NotSupportedException">No operation had such a field before.</exception>
    public static JsonNode ValueOf(string field) => field switch
    {
        "account_id" => "acct",
        "payment_type" => "VISA",
        "account_status" => "FROZEN",
        "currency_code" => "USD",
        "units" => "1",
        "nanos" => 10_000_000,
        "hold_duration" => "60s",
        "is_final" => true,
        "reference" => "order 7",
        "metadata" => new JsonObject { ["shop"] = "Zürich" },
        "version" or "after_version" => 1,
        "time" or "start_time" => "2026-01-31T12:00:00Z",
        "end_time" => "2026-02-01T12:00:00Z",
        "types" => new JsonArray("PAYMENT_ACCEPTED"),
        "page_size" => 10,
        "transaction_id" or "payment_id" => Samples.TransactionId,
        _ => throw new NotSupportedException(field),
    };

    /// <summary>Whether a body has to have a field; of version and time, version.</summary>
    public static bool IsRequired(JsonObject schema, string field) =>
        Requires(schema, field) || field == "units"
        || (field == "version" && schema["properties"]!["time"] is not null);

    /// <summary>The body that an operation takes.</summary>
    /// <param name="operation">The operation.</param>
    /// <param name="valueOf">The value of a field that has no fields itself.</param>
    /// <param name="isIn">Whether a field is in it.</param>
    public JsonObject? Body(
        ApiOperation operation, Func<string, JsonNode> valueOf, Func<JsonObject, string, bool> isIn) =>
        operation.Json["requestBody"]?["content"]!["application/json"]!["schema"] is { } schema
            ? Object(schema, valueOf, isIn)
            : null;

    /// <summary>Whether a schema requires a field.</summary>
    public static bool Requires(JsonObject schema, string field) =>
        schema["required"]?.AsArray().Any(name => name!.GetValue<string>() == field) == true;

    /// <summary>The schema that a reference leads to.</summary>
    public JsonObject Resolve(JsonNode schema) => schema["$ref"] is { } reference
        ? Schemas[reference.GetValue<string>().Split('/')[^1]]!.AsObject()
        : schema.AsObject();

    private JsonObject Object(JsonNode schema, Func<string, JsonNode> valueOf, Func<JsonObject, string, bool> isIn)
    {
        var resolved = Resolve(schema);
        var body = new JsonObject();
        foreach (var (name, field) in resolved["properties"]!.AsObject().Where(field => isIn(resolved, field.Key)))
        {
            body[name] = Resolve(field!)["properties"] is null ? valueOf(name) : Object(field!, valueOf, isIn);
        }
        return body;
    }
}

/// <summary>One operation of the document.</summary>
internal sealed record ApiOperation(string Path, string Method, JsonNode Json)
{
    public string Id => Json["operationId"]!.GetValue<string>();

    /// <summary>The scope that it needs: exactly one, of a token.</summary>
    public string Scope => Assert.Single(
        Json["security"]!.AsArray().SelectMany(need => need!.AsObject()).SelectMany(scheme => scheme.Value!.AsArray()))!
        .GetValue<string>();

    /// <summary>Whether it is for operators.</summary>
    public bool IsForOperators => Scopes.IsForOperators(Scope);

    public IEnumerable<string> Statuses => Json["responses"]!.AsObject().Select(answer => answer.Key);

    /// <summary>The schema of an answer.</summary>
    public JsonNode AnswerOf(string status) =>
        Json["responses"]![status]!["content"]!.AsObject().Single().Value!["schema"]!;

    /// <summary>A request: with the account VISA/acct and, unless one is given, a transaction id of its own.</summary>
    public HttpRequestMessage Request(Uri server, string? body, string? prefer = null, string? id = null)
    {
        id ??= Guid.NewGuid().ToString();
        var path = Path.Replace("{transaction_id}", id, StringComparison.Ordinal)
            .Replace("{payment_type}", "VISA", StringComparison.Ordinal)
            .Replace("{account_id}", "acct", StringComparison.Ordinal);
        var link = Path.EndsWith("/status", StringComparison.Ordinal) && Method == "get"
            ? "?link=" + StatusLink.Of(new(Samples.Payment()) { TransactionId = id }, 0)
            : "";
        var request = new HttpRequestMessage(
            new HttpMethod(Method.ToUpper(CultureInfo.InvariantCulture)), new Uri(server, path + link))
        {
            Content = body is null
                ? null
                : new StringContent(body, Encoding.UTF8, new MediaTypeHeaderValue("application/json")),
        };
        if (prefer is not null)
        {
            request.Headers.Add("Prefer", prefer);
        }
        return request;
    }
}
