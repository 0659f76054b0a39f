using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Proxy.Failures;
using Billing.Proxy.Security;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Proxy.Calls;

/// <summary>Answers requests for pages of statements.</summary>
internal static class StatementPages
{
    private const int SizeDefault = 100;

    /// <summary>Reads a page.</summary>
    /// <exception cref="FailureException">The request is refused, or failed.</exception>
    public static async Task<ListStatementResponse> ReadAsync(RequestHandler handler, ListStatementRequest request, IncomingCall call)
    {
        var after = 0L;
        var violation = FieldRules.Check(request) ?? PageToken.Read(request, out after);
        using var place = handler.Admit(request, violation, (request.PaymentType, request.AccountId), call.Caller).Value;
        var wanted = new StatementPageRequest
        {
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            AfterVersion = after,
            Limit = request.PageSize == 0 ? SizeDefault : Math.Min(request.PageSize, RequestKinds.StatementEntriesMax),
            WithPrincipals = call.Caller.Has(Scopes.Admin),
            StartTime = RequestKinds.Known(request.StartTime),
            EndTime = RequestKinds.Known(request.EndTime),
            Types_ = { request.Types_.Distinct() },
        };
        var page = (await handler.SendAsync(RequestKinds.Statement, wanted, call, place)).Value;
        return new ListStatementResponse
        {
            Entries = { page.Entries },
            NextPageToken = page.HasMore ? PageToken.Of(request, wanted.IsSelective() ? page.ReadTo : page.Entries[^1].Version) : "",
        };
    }
}
