using System.Text.Json;
using System.Text.Json.Serialization;
using Microsoft.OpenApi;

namespace Billing.Proxy.Rest;

/// <summary>The OpenAPI document and the page to browse it, which loads nothing from other servers.</summary>
internal static class RestDescription
{
    private const string Page = "/docs";

    public static void AddRestDescription(this IServiceCollection services)
    {
        services.ConfigureHttpJsonOptions(json =>
        {
            json.SerializerOptions.TypeInfoResolverChain.Insert(0, RestJson.Default);
            json.SerializerOptions.PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower;
            json.SerializerOptions.NumberHandling = JsonNumberHandling.Strict;
            json.SerializerOptions.DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull;
        });
        services.AddOpenApi("v1", options => options
            .AddDocumentTransformer((document, _, _) =>
            {
                document.Info.Title = "Billing";
                document.Info.Version = "v1";
                document.Info.Description =
                    "Payments and balances. Errors are problem+json with a reason for programs and, for an invalid field, its name.";
                return Task.CompletedTask;
            })
            .AddOperationTransformer((operation, _, _) =>
            {
                Complete(operation);
                return Task.CompletedTask;
            }));
    }

    // Numbers in the query are read as text, so that an error names the parameter: their type is added here. So is the timeout
    // header, which every request may have.
    private static void Complete(OpenApiOperation operation)
    {
        operation.Parameters ??= [];
        foreach (var parameter in operation.Parameters.OfType<OpenApiParameter>().Where(IsNumber))
        {
            parameter.Schema = new OpenApiSchema { Type = JsonSchemaType.Integer, Format = "int64" };
        }
        if (operation.OperationId == RestServices.MakePayment)
        {
            operation.Parameters.Add(new OpenApiParameter
            {
                Name = RestRequest.PreferHeader,
                In = ParameterLocation.Header,
                Description = "respond-async: answer 202 as soon as the payment is queued (RFC 7240).",
                Schema = new OpenApiSchema { Type = JsonSchemaType.String },
            });
        }
        operation.Parameters.Add(new OpenApiParameter
        {
            Name = RestRequest.TimeoutHeader,
            In = ParameterLocation.Header,
            Description = "How long the caller waits, in milliseconds.",
            Schema = new OpenApiSchema { Type = JsonSchemaType.Integer, Format = "int32" },
        });
    }

    private static bool IsNumber(OpenApiParameter parameter) => parameter.In == ParameterLocation.Query
        && parameter.Name is "min_version" or "after_version" or "limit" or "amount.units" or "amount.nanos" or "deadline_unix_us";

    public static void UseRestPage(this WebApplication app) => app.UseWhen(
        http => http.Request.Path.StartsWithSegments(Page, StringComparison.Ordinal),
        page => page.UseSwaggerUI(ui =>
        {
            ui.RoutePrefix = Page[1..];
            ui.DocumentTitle = "Billing";
            ui.SwaggerEndpoint("/openapi/v1.json", "Billing v1");
        }));
}
