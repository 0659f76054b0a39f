using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Proxy.Calls;

/// <summary>Requests pages of statements from backends.</summary>
internal static class StatementPages
{
    /// <summary>Requests one page.</summary>
    /// <exception cref="RpcException">The error that was answered.</exception>
    public static async Task<StatementPage> ReadAsync(
        CommandSender sender, StatementPageRequest request, CallerDeadline deadline, Admission.Admitted place,
        CancellationToken callerGone)
    {
        var command = new Command { TransactionId = Guid.NewGuid().ToString(), Statement = request };
        var reply = await sender.SendAsync(command, deadline, place, callerGone);
        var page = reply.Statement ?? throw Failure.OtherReply(reply);
        // The first would make the proxy request the same page forever, the second return more entries than requested.
        return (page.HasMore && page.Entries.Count == 0) || page.Entries.Count > request.Limit
            ? throw Failure.Create(StatusCode.Internal, ErrorReasons.ProcessingFailed,
                $"A backend answered an invalid page of a statement: {page.Entries.Count} entries for a limit of {request.Limit}.")
            : page;
    }
}
