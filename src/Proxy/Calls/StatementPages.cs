using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Proxy.Calls;

/// <summary>Asks backends for pages of statements.</summary>
internal static class StatementPages
{
    /// <summary>Asks for one page.</summary>
    /// <exception cref="RpcException">What was answered instead.</exception>
    public static async Task<StatementPage> AskAsync(
        CommandSender sender, StatementPageRequest request, CallerDeadline deadline, CancellationToken cancellationToken)
    {
        var command = new Command { TransactionId = Guid.NewGuid().ToString(), Statement = request };
        var reply = await sender.SendAsync(command, deadline, cancellationToken);
        var page = reply.Statement ?? throw Failure.OtherReply(reply);
        // Either would have the proxy ask for the same page for ever, or return more than was asked for.
        return (page.HasMore && page.Entries.Count == 0) || page.Entries.Count > request.Limit
            ? throw Failure.Create(StatusCode.Internal, ErrorReasons.ProcessingFailed,
                $"A backend answered {page.Entries.Count} entries of a statement where up to {request.Limit} were asked for.")
            : page;
    }
}
