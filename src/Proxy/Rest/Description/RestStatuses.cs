using System.Globalization;
using Billing.Proxy.Failures;
using Microsoft.OpenApi;

namespace Billing.Proxy.Rest.Description;

/// <summary>The statuses that routes answer besides 200, for the OpenAPI document: what each means, and which
/// headers come with it.</summary>
internal static class RestStatuses
{
    private static readonly (string Name, string Description) RetryAfter =
        ("Retry-After", "How many seconds to wait first; the problem has it in milliseconds.");

    private static readonly Dictionary<int, (string Meaning, (string Name, string Description)[] Headers)> All = new()
    {
        [202] = (
            "The payment is queued.",
            [
                ("Location", "The address of its status."), ("Preference-Applied", "respond-async"),
                ("Retry-After", "How many seconds to wait before the status is asked for."),
            ]),
        [400] = (
            "A field breaks a rule, which the problem names; or the account or the payment is not in a state that "
                + "allows this.", []),
        [401] = (
            "The call has no token and no client certificate, or the proxy does not trust the token.",
            [("WWW-Authenticate", "How callers authenticate: with a bearer token.")]),
        [403] = ("The caller lacks the scope, or may not use the account.", []),
        [404] = ("There is no such payment, or no such record; or this address does not serve the operation.", []),
        [409] = ("The transaction id was used before with other content. Nothing was changed.", []),
        [413] = ("The body has more bytes than the proxy accepts.", []),
        [415] = ("The body is not application/json, or is compressed.", []),
        [429] = ("The proxy, or this caller, has as many calls as it may have.", [RetryAfter]),
        [500] =
            ("The proxy or a backend failed. A change may be recorded: repeat it with the same transaction id.", []),
        [503] = (
            "The proxy shuts down, or does not reach what it needs. A change may be recorded: "
                + "repeat it with the same transaction id.", [RetryAfter]),
        [504] = ("No answer came in time. A change may be recorded: repeat it with the same transaction id.", []),
    };

    // What any request may meet.
    private static readonly int[] OfAll = [400, 401, 403, 429, 500, 503, 504];

    /// <summary>A request with a body, which is JSON.</summary>
    public static RouteHandlerBuilder Takes<T>(this RouteHandlerBuilder route)
        where T : notnull => route.Accepts<T>("application/json").Fails(413, 415);

    /// <summary>The statuses of errors that not every route answers.</summary>
    public static RouteHandlerBuilder Fails(this RouteHandlerBuilder route, params int[] statuses)
    {
        foreach (var status in statuses)
        {
            route.Produces<ProblemAnswer>(status, "application/problem+json");
        }
        return route;
    }

    /// <summary>The statuses of errors that every route answers.</summary>
    public static RouteHandlerBuilder FailsAsAll(this RouteHandlerBuilder route) => route.Fails(OfAll);

    /// <summary>Describes a header of an answer.</summary>
    public static RouteHandlerBuilder AnswersHeader(
        this RouteHandlerBuilder route, int status, string name, string description) =>
        route.AddOpenApiOperationTransformer((operation, _, _) =>
        {
            AddHeaders(
                (OpenApiResponse)operation.Responses![status.ToString(CultureInfo.InvariantCulture)],
                [(name, description)]);
            return Task.CompletedTask;
        });

    /// <summary>Completes the answers of an operation.</summary>
    public static void Complete(OpenApiOperation operation)
    {
        var answers = new OpenApiResponses();
        foreach (var (status, answer) in operation.Responses!.OrderBy(answer => answer.Key, StringComparer.Ordinal))
        {
            answers.Add(status, answer);
            if (All.TryGetValue(int.Parse(status, CultureInfo.InvariantCulture), out var known))
            {
                answer.Description = known.Meaning;
                AddHeaders((OpenApiResponse)answer, known.Headers);
            }
        }
        operation.Responses = answers;
    }

    private static void AddHeaders(OpenApiResponse answer, IEnumerable<(string Name, string Description)> headers)
    {
        foreach (var (name, description) in headers)
        {
            (answer.Headers ??= new Dictionary<string, IOpenApiHeader>())
                .Add(name, new OpenApiHeader { Description = description, Schema = SchemaOf(name) });
        }
    }

    private static OpenApiSchema SchemaOf(string header) =>
        header == RetryAfter.Name
            ? new() { Type = JsonSchemaType.Integer, Format = "int32" }
            : new() { Type = JsonSchemaType.String };
}
