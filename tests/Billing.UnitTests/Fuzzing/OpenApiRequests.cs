using System.Globalization;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Billing.Proxy.Calls;
using Billing.UnitTests.Testing;

namespace Billing.UnitTests.Fuzzing;

/// <summary>Generates requests from an OpenAPI document: some valid, most with an error.</summary>
internal sealed class OpenApiRequests(JsonElement document)
{
    private static readonly string[] Texts =
    [
        "", " ", "VISA", "visa", "USD", "acct-1", "-1", "0", "1", "9223372036854775808", "1e400", "null", "true",
        "%00", "..%2f..", "'--", "<b>", "\u202E", "\uFFFD",
        "00000000-0000-4000-8000-000000000000", "x".PadLeft(300, 'x'),
    ];

    private Random _random = new(0);
    private string _transactionId = Samples.TransactionId;

    private readonly List<(string Path, string Method, JsonElement Operation)> _operations =
    [
        .. document.GetProperty("paths").EnumerateObject()
            .SelectMany(
                path => path.Value.EnumerateObject().Select(operation => (path.Name, operation.Name, operation.Value))),
    ];

    /// <summary>The request that follows from a seed.</summary>
    public FuzzedRequest Of(int seed)
    {
        _random = new Random(seed);
        var (path, method, operation) = _operations[_random.Next(_operations.Count)];
        return Request(path, method, operation);
    }

    private FuzzedRequest Request(string path, string method, JsonElement operation)
    {
        var query = new List<string>();
        var headers = new List<(string, string)>();
        foreach (var parameter in operation.TryGetProperty("parameters", out var all) ? all.EnumerateArray() : [])
        {
            var name = parameter.GetProperty("name").GetString()!;
            switch (parameter.GetProperty("in").GetString())
            {
                case "path":
                    path = path.Replace($"{{{name}}}", Uri.EscapeDataString(PathValue(name)), StringComparison.Ordinal);
                    break;
                case "query" when Chance(50):
                    query.Add($"{name}={Uri.EscapeDataString(name == "link" && Chance(70) ? Link() : Text())}");
                    break;
                case "header" when Chance(20):
                    headers.Add((name, new string([.. Text().Where(char.IsAscii)])));
                    break;
                default:
                    break;
            }
        }
        if (Chance(10))
        {
            query.Add("surplus=" + Uri.EscapeDataString(Text()));
        }
        var body = operation.TryGetProperty("requestBody", out var requestBody)
            ? Body(requestBody.GetProperty("content").GetProperty("application/json").GetProperty("schema"))
            : null;
        var type = Chance(5) ? "text/plain" : "application/json";
        var statuses = operation.GetProperty("responses").EnumerateObject().Select(r => r.Name)
            .ToHashSet(StringComparer.Ordinal);
        return new FuzzedRequest(
            method, path + (query.Count > 0 ? "?" + string.Join('&', query) : ""), headers, body, type, statuses);
    }

    private string PathValue(string name) => Chance(40) ? Text() : name switch
    {
        "transaction_id" => _transactionId =
            new Guid(Enumerable.Range(0, 16).Select(_ => (byte)_random.Next(256)).ToArray()).ToString(),
        "payment_type" => "VISA",
        _ => "fuzz-" + _random.Next(10).ToString(CultureInfo.InvariantCulture),
    };

    private string Link() => StatusLink.Of(new(Samples.Payment()) { TransactionId = _transactionId }, 0);

    private string Body(JsonElement schema)
    {
        var text = Value(schema, depth: 0)?.ToJsonString() ?? "null";
        // Truncated, duplicated or changed at one position.
        return _random.Next(10) switch
        {
            0 => text[.._random.Next(text.Length)],
            1 => text + text,
            2 => text.Insert(_random.Next(text.Length), Texts[_random.Next(Texts.Length)]),
            _ => text,
        };
    }

    private JsonNode? Value(JsonElement schema, int depth)
    {
        var resolved = Resolve(schema);
        if (Chance(8) || depth > 5)
        {
            return _random.Next(5) switch
            {
                0 => null,
                1 => JsonValue.Create(Text()),
                2 => JsonValue.Create(_random.NextInt64(long.MinValue, long.MaxValue)),
                3 => new JsonArray(),
                _ => new JsonObject(),
            };
        }
        if (resolved.TryGetProperty("items", out var items))
        {
            return new JsonArray([.. Enumerable.Range(0, _random.Next(4)).Select(_ => Value(items, depth + 1))]);
        }
        if (!resolved.TryGetProperty("properties", out var properties))
        {
            return resolved.TryGetProperty("enum", out var values) && Chance(70)
                ? JsonValue.Create(values[_random.Next(values.GetArrayLength())].GetString())
                : resolved.GetProperty("type").GetString() == "integer"
                ? JsonValue.Create(_random.Next(-1, 100))
                : JsonValue.Create(Chance(30) ? Text() : "USD");
        }
        var value = new JsonObject();
        foreach (var property in properties.EnumerateObject().Where(_ => !Chance(8)))
        {
            value[property.Name] = property.Name switch
            {
                "account_id" when Chance(70) => "fuzz-" + _random.Next(10).ToString(CultureInfo.InvariantCulture),
                "payment_type" when Chance(70) => "VISA",
                "nanos" when Chance(70) => 0,
                "units" when Chance(70) =>
                    Chance(50) ? _random.Next(100) : _random.Next(100).ToString(CultureInfo.InvariantCulture),
                "hold_duration" when Chance(70) => _random.Next(100).ToString(CultureInfo.InvariantCulture) + "s",
                "types" when Chance(50) => new JsonArray("PAYMENT_ACCEPTED"),
                "time" or "start_time" when Chance(50) => "2026-01-31T12:00:00Z",
                "end_time" when Chance(50) => "2026-02-01T12:00:00.5+01:00",
                "page_token" when Chance(70) => "",
                _ => Value(property.Value, depth + 1),
            };
        }
        return value;
    }

    private JsonElement Resolve(JsonElement schema)
    {
        if (schema.TryGetProperty("$ref", out var reference))
        {
            return Resolve(document.GetProperty("components").GetProperty("schemas")
                .GetProperty(reference.GetString()!.Split('/')[^1]));
        }
        return schema;
    }

    private string Text() => Texts[_random.Next(Texts.Length)];

    private bool Chance(int percent) => _random.Next(100) < percent;
}

/// <summary>One request.</summary>
internal sealed record FuzzedRequest(
    string Method, string Path, IReadOnlyList<(string Name, string Value)> Headers, string? Body,
    string ContentType, IReadOnlySet<string> Statuses)
{
    /// <summary>Whether the document lists a status, or it is the status of a path that is not in the
    /// document.</summary>
    public bool Allows(int status) =>
        Statuses.Contains(status.ToString(CultureInfo.InvariantCulture)) || status is 404 or 405;

    public HttpRequestMessage ToMessage(Uri server)
    {
        var message = new HttpRequestMessage(new HttpMethod(Method.ToUpperInvariant()), new Uri(server, Path));
        foreach (var (name, value) in Headers)
        {
            message.Headers.TryAddWithoutValidation(name, value);
        }
        if (Body is not null)
        {
            message.Content = new ByteArrayContent(Encoding.UTF8.GetBytes(Body));
            message.Content.Headers.ContentType = new MediaTypeHeaderValue(ContentType);
        }
        return message;
    }

    public override string ToString() => $"{Method} {Path} {Body}";
}
