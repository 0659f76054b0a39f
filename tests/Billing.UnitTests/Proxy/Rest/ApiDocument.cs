using System.Globalization;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json.Nodes;
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
        .SelectMany(path => path.Value!.AsObject().Select(method => new ApiOperation(path.Key, method.Key, method.Value!)));

    public static async Task<ApiDocument> ReadAsync(ProxyHost proxy)
    {
        using var http = new HttpClient();
        return new(await http.GetStringAsync(new Uri(proxy.Rest, "/openapi/v1.json")));
    }

    /// <summary>The body that an operation takes.</summary>
    /// <param name="operation">The operation.</param>
    /// <param name="valueOf">The value of a field that has no fields itself.</param>
    /// <param name="isIn">Whether a field is in it.</param>
    public JsonObject? Body(ApiOperation operation, Func<string, JsonNode> valueOf, Func<JsonObject, string, bool> isIn) =>
        operation.Json["requestBody"]?["content"]!["application/json"]!["schema"] is { } schema ? Object(schema, valueOf, isIn) : null;

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

    public IEnumerable<string> Statuses => Json["responses"]!.AsObject().Select(answer => answer.Key);

    /// <summary>The schema of an answer.</summary>
    public JsonNode AnswerOf(string status) => Json["responses"]![status]!["content"]!.AsObject().Single().Value!["schema"]!;

    /// <summary>A request: with the account VISA/acct and a transaction id of its own.</summary>
    public HttpRequestMessage Request(Uri server, string? body, string? prefer = null)
    {
        var id = Guid.NewGuid().ToString();
        var path = Path.Replace("{transaction_id}", id, StringComparison.Ordinal).Replace("{payment_type}", "VISA", StringComparison.Ordinal)
            .Replace("{account_id}", "acct", StringComparison.Ordinal);
        var link = Path.EndsWith("/status", StringComparison.Ordinal) && Method == "get"
            ? "?link=" + StatusLink.Of(new(Samples.Payment()) { TransactionId = id }, 0)
            : "";
        var request = new HttpRequestMessage(new HttpMethod(Method.ToUpper(CultureInfo.InvariantCulture)), new Uri(server, path + link))
        {
            Content = body is null ? null : new StringContent(body, Encoding.UTF8, new MediaTypeHeaderValue("application/json")),
        };
        if (prefer is not null)
        {
            request.Headers.Add("Prefer", prefer);
        }
        return request;
    }
}
