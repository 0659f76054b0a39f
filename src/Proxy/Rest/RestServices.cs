using Billing.Hosting;
using Billing.Proxy.Calls;
using Billing.Proxy.Failures;
using Billing.Proxy.Security;
using Microsoft.AspNetCore.Connections;

namespace Billing.Proxy.Rest;

/// <summary>Registers the services and routes of the REST front.</summary>
public static class RestServices
{
    /// <summary>The OpenAPI name of the operation that makes a payment.</summary>
    internal const string MakePayment = "MakePayment";

    private const string ProblemJson = "application/problem+json";

    /// <summary>Adds the REST front if <see cref="RestOptions.Url"/> is set.</summary>
    public static void AddRest(this WebApplicationBuilder builder)
    {
        var configuration = builder.Configuration;
        var urls = configuration[WebHostDefaults.ServerUrlsKey];
        builder.Services.AddSettings<RestOptions>(configuration, RestOptions.Section, options => options.ValidationErrors(urls));
        if (!IsOn(configuration))
        {
            return;
        }
        builder.AlsoListen(configuration[RestOptions.Section + ":Url"]!);
        builder.Services.AddSingleton<QueuedPayments>();
        builder.Services.AddSingleton<RestFront>();
        builder.Services.AddRestDescription();
    }

    /// <summary>Maps the REST front, its OpenAPI document and the page to browse it.</summary>
    public static void MapRest(this WebApplication app)
    {
        if (!IsOn(app.Configuration))
        {
            return;
        }
        var front = app.Services.GetRequiredService<RestFront>();
        app.Use(AnswerFailuresAsync);
        app.UseRestPage();
        app.MapPut("/v1/payments/{transaction_id}", front.PayAsync)
            .WithTags("Billing").WithName(MakePayment).Accepts<PaymentBody>("application/json")
            .Produces<PaymentStatusAnswer>(StatusCodes.Status202Accepted, "application/json").Answers<PaymentAnswer>(Scopes.PaymentsWrite);
        app.MapGet(QueuedPayments.StatusRoute, app.Services.GetRequiredService<QueuedPayments>().StatusAsync)
            .WithTags("Billing").WithName("GetPaymentStatus").Answers<PaymentStatusAnswer>(Scopes.PaymentsWrite);
        app.MapGet("/v1/accounts/{payment_type}/{account_id}/balance", front.BalanceAsync)
            .WithTags("Billing").WithName("CheckBalance").Answers<BalanceAnswer>(Scopes.BalancesRead);
        app.MapGet("/v1/accounts/{payment_type}/{account_id}/statement", front.StatementAsync)
            .WithTags("Billing").WithName("GetStatement").Answers<StatementAnswer>(Scopes.BalancesRead);
        app.MapPut("/v1/accounts/{payment_type}/{account_id}/credit-limit", front.LimitAsync)
            .WithTags("Billing").WithName("SetCreditLimit").Accepts<CreditLimitBody>("application/json").ForOperators().Answers<CreditLimitAnswer>(Scopes.Admin);
        app.Services.GetRequiredService<Readiness>().Map(app);
        app.MapOpenApi().AllowAnonymous();
    }

    private static bool IsOn(IConfiguration configuration) => configuration[RestOptions.Section + ":Url"] is { Length: > 0 };

    private static void Answers<T>(this RouteHandlerBuilder endpoint, string scope)
    {
        endpoint.RequireAuthorization(scope);
        endpoint.Produces<T>(StatusCodes.Status200OK, "application/json");
        foreach (var status in (int[])[400, 401, 403, 409, 413, 415, 429, 500, 503, 504])
        {
            endpoint.Produces<ProblemAnswer>(status, ProblemJson);
        }
    }

    private static Task AnswerFailuresAsync(HttpContext http, RequestDelegate next) =>
        Refusals.IsGrpc(http.Request)
            ? next(http)
            : GuardAsync(http, next);

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
            RestFailure.Write(http.Response, e.StatusCode, Contracts.ErrorReasons.MalformedBody, e.Message);
        }
        catch (OperationCanceledException) when (http.RequestAborted.IsCancellationRequested)
        {
            // The caller is gone: nobody reads an answer.
        }
        catch (Exception e) when (IsUnforeseen(e, http))
        {
            var errors = http.RequestServices.GetRequiredService<CallErrors>();
            RestFailure.Write(http.Response, errors.Unforeseen(e, http.GetEndpoint()?.DisplayName ?? http.Request.Method));
        }
        if (http.Response is { HasStarted: false, StatusCode: >= 400, ContentLength: null, ContentType: null })
        {
            RestFailure.Write(http.Response, http.Response.StatusCode, null, Refusal(http));
        }
    }

    // Once the caller is gone, the work for it may end with any exception.
    private static bool IsUnforeseen(Exception e, HttpContext http) =>
        e is not ConnectionResetException && !http.Response.HasStarted && !http.RequestAborted.IsCancellationRequested;

    private static string Refusal(HttpContext http) => http.Response.StatusCode switch
    {
        StatusCodes.Status415UnsupportedMediaType => $"The body must be application/json; it is '{http.Request.ContentType}'.",
        _ => $"{http.Request.Method} {http.Request.Path} is not part of this API; see /docs.",
    };
}
