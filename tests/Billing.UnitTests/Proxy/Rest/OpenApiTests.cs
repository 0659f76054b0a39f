using System.Text.Json;
using System.Text.Json.Nodes;
using Billing.UnitTests.Testing;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Routing;
using NJsonSchema;

namespace Billing.UnitTests.Proxy.Rest;

/// <summary>The OpenAPI document against the routes and what they take and answer.</summary>
public sealed class OpenApiTests
{
    private static readonly string[] Known =
    [
        "200", "202", "400", "401", "403", "404", "409", "413", "415", "429", "500", "503", "504",
    ];

    private readonly FakeBackend _backend =
        new(storesCommands: true) { Answer = command => Task.FromResult(CompleteReplies.To(command)) };

    [Fact]
    public async Task Every_route_is_an_operation_with_a_name_its_scope_and_its_problems()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var document = await ApiDocument.ReadAsync(proxy);
        var routes = proxy.Endpoints.Where(route =>
            route.RoutePattern.RawText!.StartsWith("/v1/", StringComparison.Ordinal)).ToList();

        Assert.Subset(
            document.Operations.Select(operation => operation.Id).ToHashSet(),
            ApiMethods.Unary.Select(method => JsonNamingPolicy.CamelCase.ConvertName(method.Data)).ToHashSet());
        foreach (var route in routes)
        {
            var name = route.Metadata.GetMetadata<IEndpointNameMetadata>()!.EndpointName;
            var method = Assert.Single(route.Metadata.GetMetadata<IHttpMethodMetadata>()!.HttpMethods);
            var operation = Assert.Single(
                document.Operations, operation => operation.Path == route.RoutePattern.RawText
                    && operation.Method.Equals(method, StringComparison.OrdinalIgnoreCase));

            Assert.Equal(JsonNamingPolicy.CamelCase.ConvertName(name), operation.Id);
            Assert.Equal(
                $$"""[{"token":["{{route.Metadata.GetMetadata<IAuthorizeData>()!.Policy}}"]},{}]""",
                operation.Json["security"]!.ToJsonString());
            Assert.Equal(
                Known.Where(status => Answers(document, operation, status)),
                operation.Statuses);
            Assert.All(operation.Statuses.Where(status => status[0] != '2'), status =>
                Assert.Equal("#/components/schemas/Problem", operation.AnswerOf(status)["$ref"]!.GetValue<string>()));
        }
        Assert.Equal(
            """{"type":"http","description":""",
            document.Root["components"]!["securitySchemes"]!["token"]!.ToJsonString()[..29]);
    }

    [Fact]
    public async Task A_field_has_one_type_and_a_schema_the_name_that_a_person_would_choose()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var document = await ApiDocument.ReadAsync(proxy);

        Assert.DoesNotContain(document.Schemas, schema => schema.Key.EndsWith("Json", StringComparison.Ordinal)
            || schema.Key.EndsWith("Answer", StringComparison.Ordinal)
            || schema.Key.EndsWith("Body", StringComparison.Ordinal));
        Assert.DoesNotContain("\\n", document.Text, StringComparison.Ordinal);
        Assert.DoesNotContain("\"oneOf\"", document.Text, StringComparison.Ordinal);
        Assert.DoesNotContain("\"type\": [", document.Text, StringComparison.Ordinal);
        Assert.Equal("string", document.Schemas["Money"]!["properties"]!["units"]!["type"]!.GetValue<string>());
        Assert.Equal(
            """["VISA","MASTERCARD","DISCOVER","AMEX"]""", document.Schemas["PaymentType"]!["enum"]!.ToJsonString());
        Assert.All(document.Schemas, schema => Assert.Equal(
            schema.Key.EndsWith("Request", StringComparison.Ordinal),
            schema.Key != "Amount" && schema.Value!["additionalProperties"] is not null));
    }

    [Fact]
    public async Task What_is_answered_to_each_operation_is_as_its_schema_says()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var document = await ApiDocument.ReadAsync(proxy);
        using var http = new HttpClient();
        foreach (var operation in document.Operations)
        {
            foreach (var body in Bodies(document, operation))
            {
                await AssertAnswerAsync(operation, body, "200");
            }
            if (operation.Statuses.Contains("202"))
            {
                await AssertAnswerAsync(operation, Bodies(document, operation).First(), "202", "respond-async");
            }
            using var refused = operation.Request(proxy.Rest, operation.Method == "get" ? null : "{}");
            refused.Headers.Add("billing-timeout-ms", "soon");
            await AssertSchemaAsync(document, operation, refused, "400");
        }

        async Task AssertAnswerAsync(ApiOperation operation, string? body, string status, string? prefer = null)
        {
            using var request = operation.Request(proxy.Rest, body, prefer);
            using var answer = await AssertSchemaAsync(document, operation, request, status);
            Assert.All(
                operation.Json["responses"]![status]!["headers"]?.AsObject().Where(_ => status == "202") ?? [],
                header => Assert.True(answer.Headers.Contains(header.Key), header.Key));
        }

        async Task<HttpResponseMessage> AssertSchemaAsync(
            ApiDocument document, ApiOperation operation, HttpRequestMessage request, string status)
        {
            var answer = await http.SendAsync(request);
            var json = await answer.Content.ReadAsStringAsync();
            Assert.True(status == $"{(int)answer.StatusCode}", $"{operation.Id}: {json}");
            var problems = (await SchemaAsync(document, operation.AnswerOf(status))).Validate(json);
            Assert.True(problems.Count == 0, $"{operation.Id} {status}: {string.Join(", ", problems)}\n{json}");
            return answer;
        }
    }

    [Fact]
    public async Task A_field_that_is_required_is_missed_and_one_that_is_not_is_no_field_is_refused()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var document = await ApiDocument.ReadAsync(proxy);
        using var http = new HttpClient();
        foreach (var operation in document.Operations.Where(operation => operation.Json["requestBody"] is not null))
        {
            var schema = document.Resolve(operation.Json["requestBody"]!["content"]!["application/json"]!["schema"]!);
            foreach (var required in schema["required"]!.AsArray().Select(name => name!.GetValue<string>()))
            {
                var body = document.Body(operation, ApiDocument.ValueOf, ApiDocument.IsRequired)!;
                body.Remove(required);
                Assert.Equal((400, required), await RefusedAsync(operation, body));
            }
            var whole = document.Body(operation, ApiDocument.ValueOf, ApiDocument.IsRequired)!;
            whole["surplus"] = 1;
            Assert.Equal((400, "surplus"), await RefusedAsync(operation, whole));
        }

        async Task<(int Status, string? Field)> RefusedAsync(ApiOperation operation, JsonObject body)
        {
            using var request = operation.Request(proxy.Rest, body.ToJsonString());
            using var answer = await http.SendAsync(request);
            return (
                (int)answer.StatusCode,
                JsonNode.Parse(await answer.Content.ReadAsStringAsync())!["field"]?.GetValue<string>());
        }
    }

    /// <summary>The document is in the repository for those who generate a client; this test writes it with
    /// BILLING_WRITE_OPENAPI=1.</summary>
    [Fact]
    public async Task The_document_in_the_repository_is_the_one_that_proxies_serve()
    {
        await using var proxy = await ProxyHost.StartAsync(_backend, withRest: true);
        var served = (await ApiDocument.ReadAsync(proxy)).Text.ReplaceLineEndings("\n") + "\n";
        var path = Path.Combine(Repository.Root, "docs/openapi.json");
        if (Environment.GetEnvironmentVariable("BILLING_WRITE_OPENAPI") == "1")
        {
            await File.WriteAllTextAsync(path, served);
        }

        Assert.Equal(await File.ReadAllTextAsync(path), served);
    }

    private static bool Answers(ApiDocument document, ApiOperation operation, string status) => status switch
    {
        "202" => operation.Id == "makePayment",
        // Of what is looked up, of what follows a payment, and of what is for operators.
        "404" => operation.Id is "getTransaction" or "getPaymentStatus" || operation.IsForOperators
            || document.Body(operation, _ => "", (_, field) => field == "payment_id") is { Count: > 0 },
        "409" => operation.Method == "put" || operation.Id == "getPaymentStatus",
        "413" or "415" => operation.Json["requestBody"] is not null,
        _ => true,
    };

    // With every field, of which only one of the alternatives, and with what is required only.
    private static IEnumerable<string?> Bodies(ApiDocument document, ApiOperation operation) =>
    [
        document.Body(operation, ApiDocument.ValueOf, (_, field) => field != "time" && field != "page_token")
            ?.ToJsonString(),
        document.Body(operation, ApiDocument.ValueOf, (_, field) => field is not "version" and not "page_token")
            ?.ToJsonString(),
        document.Body(operation, ApiDocument.ValueOf, ApiDocument.IsRequired)?.ToJsonString(),
    ];

    private static Task<JsonSchema> SchemaAsync(ApiDocument document, JsonNode schema)
    {
        var whole = new JsonObject
        {
            ["definitions"] = document.Schemas.DeepClone(),
            ["allOf"] = new JsonArray(schema.DeepClone()),
        };
        return JsonSchema.FromJsonAsync(
            whole.ToJsonString().Replace("#/components/schemas/", "#/definitions/", StringComparison.Ordinal));
    }
}
