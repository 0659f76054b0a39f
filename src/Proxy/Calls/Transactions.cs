using Billing.Messaging.Requests;
using Billing.V1;

namespace Billing.Proxy.Calls;

/// <summary>Finds what is recorded of a request.</summary>
internal static class Transactions
{
    /// <summary>Finds it by its transaction id. Only callers with <see cref="Scopes.OperationsRead"/> learn who sent
    /// it.</summary>
    /// <exception cref="Failures.FailureException">The request is refused, or failed, or nothing is found.</exception>
    public static async Task<GetTransactionResponse> FindAsync(
        RequestHandler handler, GetTransactionRequest request, IncomingCall call)
    {
        var found = (await handler.HandleAsync(RequestKinds.Lookup, request, call)).Value;
        if (!call.Caller.Has(Scopes.OperationsRead))
        {
            found.Entry.Principal = null;
        }
        return found;
    }
}
