using System.Text.Json;
using System.Text.Json.Serialization;
using Microsoft.OpenApi;

namespace Billing.Proxy.Rest;

/// <summary>The OpenAPI document and the page to browse it, which loads nothing from other servers.</summary>
internal static class RestDescription
{
    private const string Page = "/docs";

    // The page sets styles of elements, and holds pictures.
    private const string Policy =
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'";

    public static void AddRestDescription(this IServiceCollection services)
    {
        services.ConfigureHttpJsonOptions(json =>
        {
            json.SerializerOptions.TypeInfoResolverChain.Insert(0, RestJson.Default);
            json.SerializerOptions.PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower;
            json.SerializerOptions.NumberHandling = JsonNumberHandling.Strict;
            json.SerializerOptions.DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull;
        });
        services.AddOpenApi("v1", options => options.AddDocumentTransformer((document, _, _) =>
        {
            document.Info.Title = "Billing";
            document.Info.Version = "v1";
            document.Info.Description =
                "Payments and balances. Errors are problem+json with a reason for programs and, for an invalid field, its name.";
            return Task.CompletedTask;
        }));
    }

    public static void UseRestPage(this WebApplication app) => app.UseWhen(
        http => http.Request.Path.StartsWithSegments(Page, StringComparison.Ordinal),
        page =>
        {
            page.Use((http, next) =>
            {
                http.Response.Headers.XContentTypeOptions = "nosniff";
                http.Response.Headers.ContentSecurityPolicy = Policy;
                return next(http);
            });
            page.UseSwaggerUI(ui =>
            {
                ui.RoutePrefix = Page[1..];
                ui.DocumentTitle = "Billing";
                ui.SwaggerEndpoint("/openapi/v1.json", "Billing v1");
            });
        });

    /// <summary>Describes parameters of the query as numbers. They are read as text, so that an error names the parameter.</summary>
    public static RouteHandlerBuilder HasNumbers(this RouteHandlerBuilder route, params string[] names) =>
        route.AddOpenApiOperationTransformer((operation, _, _) =>
        {
            foreach (var parameter in operation.Parameters!.OfType<OpenApiParameter>().Where(parameter => names.Contains(parameter.Name)))
            {
                parameter.Schema = new OpenApiSchema { Type = JsonSchemaType.Integer, Format = "int64" };
            }
            return Task.CompletedTask;
        });

    public static RouteHandlerBuilder HasHeader(
        this RouteHandlerBuilder route, string name, string description, JsonSchemaType type, string? format = null) =>
        route.AddOpenApiOperationTransformer((operation, _, _) =>
        {
            (operation.Parameters ??= []).Add(new OpenApiParameter
            {
                Name = name,
                In = ParameterLocation.Header,
                Description = description,
                Schema = new OpenApiSchema { Type = type, Format = format },
            });
            return Task.CompletedTask;
        });
}
