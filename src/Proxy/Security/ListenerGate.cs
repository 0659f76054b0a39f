using Billing.Contracts;
using Billing.Proxy.Failures;
using Grpc.Core;

namespace Billing.Proxy.Security;

/// <summary>Serves the endpoints for operators only at the admin addresses.</summary>
internal sealed class ListenerGate(RequestDelegate next, IReadOnlyCollection<int> adminPorts, SecurityLog log)
{
    private const string Message = "This is served only at the proxy's admin address (Billing:Admin).";

    /// <summary>Lets a request pass, or answers that the endpoint is not served at this address.</summary>
    public Task InvokeAsync(HttpContext http)
    {
        if (http.GetEndpoint() is not { } endpoint || endpoint.Metadata.GetMetadata<OperatorEndpoint>() is null
            || adminPorts.Contains(http.Connection.LocalPort))
        {
            return next(http);
        }
        var failure = new Failure(StatusCode.Unimplemented, ErrorReasons.NotServedHere, Message);
        log.Refused(Caller.Of(http), failure, endpoint.DisplayName ?? "");
        if (GrpcEndpoints.IsGrpc(http))
        {
            AccessRefusals.Answer(http, failure);
        }
        else
        {
            RestFailure.Write(http.Response, StatusCodes.Status404NotFound, ErrorReasons.NotServedHere, Message);
        }
        return Task.CompletedTask;
    }
}

/// <summary>Marks an endpoint that is for the platform's operators, not for its callers.</summary>
internal sealed class OperatorEndpoint;

internal static class OperatorEndpoints
{
    private static readonly OperatorEndpoint Mark = new();

    /// <summary>Marks endpoints as being for operators: <see cref="ListenerGate"/> serves them only at the admin
    /// addresses.</summary>
    public static TBuilder ForOperators<TBuilder>(this TBuilder endpoints)
        where TBuilder : IEndpointConventionBuilder => endpoints.WithMetadata(Mark);
}
