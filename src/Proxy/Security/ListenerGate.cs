using Billing.Contracts;
using Billing.Proxy.Failures;
using Grpc.Core;

namespace Billing.Proxy.Security;

/// <summary>Serves what is for operators at the admin addresses alone.</summary>
internal sealed class ListenerGate(RequestDelegate next, IReadOnlyCollection<int> adminPorts)
{
    private const string Message = "This is served at the proxy's admin address (Billing:Admin) alone.";

    /// <summary>Lets a request pass, or answers it as if there were nothing.</summary>
    public Task InvokeAsync(HttpContext http)
    {
        if (http.GetEndpoint()?.Metadata.GetMetadata<OperatorEndpoint>() is null || adminPorts.Contains(http.Connection.LocalPort))
        {
            return next(http);
        }
        if (Refusals.IsGrpc(http.Request))
        {
            Refusals.Answer(http, Failure.Create(StatusCode.Unimplemented, ErrorReasons.NotServedHere, Message));
        }
        else
        {
            RestFailure.Write(http.Response, StatusCodes.Status404NotFound, ErrorReasons.NotServedHere, Message);
        }
        return Task.CompletedTask;
    }
}
