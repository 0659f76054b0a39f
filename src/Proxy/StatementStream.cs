using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Proxy;

/// <summary>One GetStatement call: asks for page after page, each only when the one before is written, so a slow reader is
/// read for slowly.</summary>
internal sealed class StatementStream(
    CommandSender sender, DrainingWriter<StatementEntry> responses, Patience patience, CancellationToken closing)
{
    private const int PageMax = 500;

    public async Task RunAsync(GetStatementRequest request, CancellationToken cancellationToken)
    {
        var left = request.Limit == 0 ? long.MaxValue : request.Limit;
        var next = new StatementPageRequest
        {
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            AfterVersion = request.AfterVersion,
        };
        while (left > 0)
        {
            next.Limit = (int)Math.Min(PageMax, left);
            var page = await PageAsync(next.Clone(), cancellationToken);
            await WriteAsync(page);
            left -= page.Entries.Count;
            if (!page.HasMore)
            {
                return;
            }
            next.AfterVersion = page.Entries[^1].Version;
            next.Opening = page.Closing;
        }
    }

    private Task<StatementPage> PageAsync(StatementPageRequest request, CancellationToken cancellationToken) =>
        closing.IsCancellationRequested
            ? throw Admission.Closed()
            : StatementPages.AskAsync(sender, request, patience, cancellationToken);

    private async Task WriteAsync(StatementPage page)
    {
        for (var i = 0; i < page.Entries.Count; i++)
        {
            await responses.WriteAsync(page.Entries[i], flush: i == page.Entries.Count - 1);
        }
    }
}

/// <summary>Asks backends for pages of statements.</summary>
internal static class StatementPages
{
    /// <summary>Asks for one page.</summary>
    /// <exception cref="RpcException">What was answered instead.</exception>
    public static async Task<StatementPage> AskAsync(
        CommandSender sender, StatementPageRequest request, Patience patience, CancellationToken cancellationToken)
    {
        var command = new Command { TransactionId = Guid.NewGuid().ToString(), Statement = request };
        var reply = await sender.SendAsync(command, patience, cancellationToken);
        var page = reply.Statement ?? throw Failure.OtherReply(reply);
        // Either would have the proxy ask for the same page for ever, or return more than was asked for.
        return (page.HasMore && page.Entries.Count == 0) || page.Entries.Count > request.Limit
            ? throw Failure.Create(StatusCode.Internal, ErrorReasons.ProcessingFailed,
                $"A backend answered {page.Entries.Count} entries of a statement where up to {request.Limit} were asked for.")
            : page;
    }
}
