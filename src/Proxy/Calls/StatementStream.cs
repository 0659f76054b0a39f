using Billing.Messaging.Requests;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Security;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Proxy.Calls;

/// <summary>One GetStatement call: requests page after page, each only when the previous one is written, so that a slow caller
/// slows the reads down.</summary>
internal sealed class StatementStream(
    RequestHandler handler, IncomingCall call, DrainingWriter<StatementEntry> responses, Admission.Admitted place, StreamEnd end)
{
    private const int PageMax = 500;

    public async Task RunAsync(GetStatementRequest request)
    {
        var left = request.Limit == 0 ? long.MaxValue : request.Limit;
        var next = new StatementPageRequest
        {
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            AfterVersion = request.AfterVersion,
            WithPrincipals = call.Caller.Has(Scopes.Admin),
        };
        while (left > 0)
        {
            next.Limit = (int)Math.Min(PageMax, left);
            var page = await PageAsync(next);
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

    private async Task<StatementPage> PageAsync(StatementPageRequest request) =>
        end.Token.IsCancellationRequested
            ? throw new FailureException(end.Failure)
            : (await handler.SendAsync(RequestKinds.Statement, request, call, place)).Value;

    private async Task WriteAsync(StatementPage page)
    {
        for (var i = 0; i < page.Entries.Count; i++)
        {
            await responses.WriteAsync(page.Entries[i], flush: i == page.Entries.Count - 1);
        }
    }
}
