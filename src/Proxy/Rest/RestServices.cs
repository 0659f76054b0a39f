using System.Text.Json;
using System.Text.Json.Serialization;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Messaging.Requests;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Rest.Description;
using Billing.Proxy.Security;
using Grpc.AspNetCore.Server;
using Microsoft.AspNetCore.Connections;

namespace Billing.Proxy.Rest;

/// <summary>Registers the services and routes of the REST front.</summary>
internal static class RestServices
{
    /// <summary>Adds the REST front if <see cref="RestOptions.Url"/> is set.</summary>
    public static void AddRest(this WebApplicationBuilder builder)
    {
        var urls = builder.Configuration[WebHostDefaults.ServerUrlsKey];
        var options = builder.Services.AddSettings<RestOptions>(
            builder.Configuration, RestOptions.Section, options => options.ValidationErrors(urls));
        if (RestOptions.IsOn(builder.Configuration))
        {
            builder.AlsoListen(options.Url);
            builder.Services.AddSingleton<BodyRequests>();
            foreach (var route in RestRoutes.All)
            {
                builder.Services.AddSingleton(route);
            }
            builder.Services.ConfigureHttpJsonOptions(json =>
            {
                json.SerializerOptions.TypeInfoResolverChain.Insert(0, RestJson.Default);
                json.SerializerOptions.PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower;
                json.SerializerOptions.NumberHandling = JsonNumberHandling.Strict;
                json.SerializerOptions.DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull;
            });
            builder.Services.AddRestDescription();
        }
    }

    /// <summary>Maps the REST front, its OpenAPI document and the page to browse it.</summary>
    public static void MapRest(this WebApplication app)
    {
        if (!RestOptions.IsOn(app.Configuration))
        {
            return;
        }
        app.Use(AnswerFailuresAsync);
        app.UseRestPage();
        foreach (var route in RestRoutes.All)
        {
            ((IRestRoute)app.Services.GetRequiredService(route)).Map(app);
        }
        app.Services.GetRequiredService<Readiness>().Map(app);
        app.Services.GetRequiredService<RestDocument>().Map(app).AllowAnonymous();
    }

    /// <summary>Completes the route of a kind of request: who may use it, and what it answers.</summary>
    public static void Answers<T>(this RouteHandlerBuilder route, RequestKind kind)
    {
        var scope = kind.Scope!;
        route.WithTags(RestDescription.Tag).RequireAuthorization(scope)
            .Produces<T>(StatusCodes.Status200OK, "application/json").FailsAsAll()
            .Needs(scope).HasHeader(RestRequest.TimeoutHeader, "How long the caller waits, in milliseconds.");
        if (kind.IsWrite)
        {
            route.Fails(StatusCodes.Status409Conflict);
        }
        if (Scopes.IsForOperators(scope))
        {
            route.ForOperators().Fails(StatusCodes.Status404NotFound);
        }
    }

    /// <summary>The middleware that serves HEAD as GET; the server leaves out the body.
    /// It has to be before routing.</summary>
    internal static Task HeadAsGet(HttpContext http, RequestDelegate next)
    {
        if (HttpMethods.IsHead(http.Request.Method))
        {
            http.Request.Method = HttpMethods.Get;
            http.Items[nameof(HeadAsGet)] = true;
        }
        return next(http);
    }

    /// <summary>The middleware that keeps answers for whoever asked, but for those of gRPC's methods, which nothing on
    /// the way keeps. It has to be right behind routing.</summary>
    internal static Task KeepPrivate(HttpContext http, RequestDelegate next)
    {
        if (http.GetEndpoint()?.Metadata.GetMetadata<GrpcMethodMetadata>() is null)
        {
            RestFailure.KeepPrivate(http.Response);
        }
        return next(http);
    }

    /// <summary>Whether the caller wants the headers of the answer only. An answer without an end has to end with
    /// them.</summary>
    public static bool IsHead(HttpContext http) => http.Items.ContainsKey(nameof(HeadAsGet));

    /// <summary>The middleware that turns failures of REST requests into answers.</summary>
    internal static Task AnswerFailuresAsync(HttpContext http, RequestDelegate next) =>
        GrpcEndpoints.IsGrpc(http) ? next(http) : GuardAsync(http, next);

    private static async Task GuardAsync(HttpContext http, RequestDelegate next)
    {
        try
        {
            await next(http);
        }
        catch (FailureException e) when (!http.Response.HasStarted)
        {
            RestFailure.Write(http.Response, e.Failure);
        }
        catch (BadHttpRequestException e) when (!http.Response.HasStarted)
        {
            RestFailure.Write(http.Response, e.StatusCode, ErrorReasons.MalformedBody, e.Message);
        }
        catch (OperationCanceledException) when (http.RequestAborted.IsCancellationRequested)
        {
            // The caller is gone: nobody reads an answer.
        }
        catch (Exception e) when (IsUnforeseen(e, http))
        {
            var errors = http.RequestServices.GetRequiredService<CallErrors>();
            RestFailure.Write(
                http.Response, errors.Unforeseen(e, http.GetEndpoint()?.DisplayName ?? http.Request.Method));
        }
        if (http.Response is { HasStarted: false, StatusCode: StatusCodes.Status405MethodNotAllowed })
        {
            Allow(http);
        }
        if (http.Response is { HasStarted: false, StatusCode: >= 400, ContentLength: null, ContentType: null })
        {
            RestFailure.Write(http.Response, http.Response.StatusCode, null, Refusal(http));
        }
    }

    // Routing has listed the methods that the routes of the path have.
    private static void Allow(HttpContext http)
    {
        var methods = http.Response.Headers.Allow.ToString();
        var head = methods.Contains(HttpMethods.Get, StringComparison.Ordinal) ? ", HEAD" : "";
        http.Response.Headers.Allow = $"{methods}{head}, OPTIONS";
        if (HttpMethods.IsOptions(http.Request.Method))
        {
            http.Response.StatusCode = StatusCodes.Status204NoContent;
        }
    }

    // Once the caller is gone, the work for it may end with any exception.
    private static bool IsUnforeseen(Exception e, HttpContext http) =>
        e is not ConnectionResetException && !http.Response.HasStarted && !http.RequestAborted.IsCancellationRequested;

    private static string Refusal(HttpContext http) => http.Response.StatusCode switch
    {
        StatusCodes.Status415UnsupportedMediaType =>
            $"The body must be application/json; it is '{http.Request.ContentType}'.",
        _ => $"{http.Request.Method} {http.Request.Path} is not part of this API; see /docs.",
    };
}
