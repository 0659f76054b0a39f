using System.Text.Json;
using Billing.Messaging.Requests;
using Microsoft.AspNetCore.OpenApi;
using Microsoft.OpenApi;

namespace Billing.Proxy.Rest.Description;

/// <summary>The OpenAPI document and the page to browse it, which loads nothing from other servers.</summary>
internal static class RestDescription
{
    /// <summary>The one group of all operations.</summary>
    public const string Tag = "Billing";

    private const string Page = "/docs";
    private const string TokenScheme = "token";

    // The page sets styles of elements, and holds pictures.
    private const string Policy =
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; "
        + "object-src 'none'; form-action 'self'; frame-ancestors 'none'";

    public static void AddRestDescription(this IServiceCollection services)
    {
        services.AddSingleton<RestDocument>().AddOpenApi(RestDocument.Name, options =>
        {
            options.CreateSchemaReferenceId = type => NameOf(OpenApiOptions.CreateDefaultSchemaReferenceId(type));
            options.AddOperationTransformer((operation, _, _) =>
            {
                operation.OperationId = JsonNamingPolicy.CamelCase.ConvertName(operation.OperationId!);
                RestStatuses.Complete(operation);
                return Task.CompletedTask;
            });
            options.AddDocumentTransformer((document, _, _) =>
            {
                Complete(document);
                return Task.CompletedTask;
            });
        });
    }

    public static void UseRestPage(this WebApplication app) => app.UseWhen(
        http => http.Request.Path.StartsWithSegments(Page, StringComparison.Ordinal),
        page =>
        {
            page.Use((http, next) =>
            {
                http.Response.Headers.ContentSecurityPolicy = Policy;
                return next(http);
            });
            page.UseSwaggerUI(ui =>
            {
                ui.RoutePrefix = Page[1..];
                ui.DocumentTitle = "Billing";
                ui.SwaggerEndpoint($"/openapi/{RestDocument.Name}.json", "Billing v1");
            });
        });

    /// <summary>Says which scope a route needs.</summary>
    public static RouteHandlerBuilder Needs(this RouteHandlerBuilder route, string scope) =>
        route.AddOpenApiOperationTransformer((operation, context, _) =>
        {
            // The second needs nothing in the request: a client certificate, or a proxy that lets anybody in.
            operation.Security =
            [
                new() { [new OpenApiSecuritySchemeReference(TokenScheme, context.Document)] = [scope] }, [],
            ];
            return Task.CompletedTask;
        });

    /// <summary>Describes a header of a request.</summary>
    public static RouteHandlerBuilder HasHeader(this RouteHandlerBuilder route, string name, string description) =>
        route.AddOpenApiOperationTransformer((operation, _, _) =>
        {
            (operation.Parameters ??= []).Add(new OpenApiParameter
            {
                Name = name,
                In = ParameterLocation.Header,
                Description = description,
                Schema = new OpenApiSchema { Type = JsonSchemaType.String },
            });
            return Task.CompletedTask;
        });

    private static void Complete(OpenApiDocument document)
    {
        document.Info = new OpenApiInfo
        {
            Title = "Billing",
            Version = "v1",
            Description =
                "Payments and balances. Errors are problem+json with a reason for programs and, for an invalid "
                + "field, its name.",
            License = new OpenApiLicense { Name = "Apache-2.0", Identifier = "Apache-2.0" },
        };
        // Whichever address the document was read at.
        document.Servers = [new OpenApiServer { Url = "/" }];
        document.Tags =
            new HashSet<OpenApiTag> { new() { Name = Tag, Description = "Payments, accounts and their statements." } };
        // Of client certificates there is no scheme here: NSwag reads no document that has one.
        document.AddComponent<IOpenApiSecurityScheme>(TokenScheme, new OpenApiSecurityScheme
        {
            Type = SecuritySchemeType.Http,
            Scheme = "bearer",
            BearerFormat = "JWT",
            Description = "A token of the proxy's issuer, with the scope that the operation names: "
                + string.Join(", ", Scopes.All)
                + ". A proxy that knows its callers by client certificates (mutual TLS) needs none.",
        });
        RestSchemas.Complete(document);
    }

    // In C#, what is read ends in Body, what is written in Answer, and what is part of either in Json.
    private static string? NameOf(string? type) =>
        type is null ? null
        : type.EndsWith("Body", StringComparison.Ordinal) ? type[..^4] + "Request"
        : type.EndsWith("Answer", StringComparison.Ordinal) ? type[..^6]
        : type.EndsWith("Json", StringComparison.Ordinal) ? type[..^4]
        : type;
}
