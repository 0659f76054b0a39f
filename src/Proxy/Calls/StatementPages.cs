using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Proxy.Calls;

/// <summary>Answers requests for a statement: with one page, or on a stream with all that follow.</summary>
internal static class StatementPages
{
    private const int SizeDefault = 100;

    /// <summary>Reads a page.</summary>
    /// <exception cref="FailureException">The request is refused, or failed.</exception>
    public static async Task<ListStatementResponse> ReadAsync(
        RequestHandler handler, ListStatementRequest request, IncomingCall call)
    {
        using var place = Admit(handler, request, call, isTimed: true, out var wanted);
        // Until the answer is sent: a caller that does not read keeps it in memory.
        call.Response?.RegisterForDispose(handler.HoldPage(call));
        return Answer(request, wanted, await PageAsync(handler, wanted, call, place));
    }

    /// <summary>Reads page after page, each only when the previous one is written, so that a slow caller
    /// slows the reads down.</summary>
    /// <exception cref="FailureException">The request is refused, or failed, or the stream has to end.</exception>
    public static async Task StreamAsync(
        RequestHandler handler, ListStatementRequest request, IncomingCall call,
        DrainingWriter<ListStatementResponse> answers, StreamEnd end)
    {
        using var place = Admit(handler, request, call, isTimed: false, out var wanted);
        using var held = handler.HoldPage(call);
        while (true)
        {
            if (end.Token.IsCancellationRequested)
            {
                throw new FailureException(end.Failure);
            }
            var page = await PageAsync(handler, wanted, call, place);
            await answers.WriteAsync(Answer(request, wanted, page), flush: true);
            if (!page.HasMore)
            {
                return;
            }
            wanted.AfterVersion = ReadTo(wanted, page);
            // Of a page of only some events it would be the account as of another version.
            wanted.Opening = wanted.IsSelective() ? null : page.Closing;
        }
    }

    private static Admission.Admitted Admit(
        RequestHandler handler, ListStatementRequest request, IncomingCall call,
        bool isTimed, out StatementPageRequest wanted)
    {
        var after = 0L;
        var violation = FieldRules.Check(request) ?? PageToken.Read(request, out after);
        var place =
            handler.Admit(request, violation, (request.PaymentType, request.AccountId), call.Caller, isTimed).Value;
        wanted = new StatementPageRequest
        {
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            AfterVersion = Math.Max(after, request.AfterVersion),
            Limit = request.PageSize == 0 ? SizeDefault : Math.Min(request.PageSize, RequestKinds.StatementEntriesMax),
            WithPrincipals = call.Caller.Has(Scopes.OperationsRead),
            StartTime = RequestKinds.Known(request.StartTime),
            EndTime = RequestKinds.Known(request.EndTime),
            Types_ = { request.Types_ },
        };
        return place;
    }

    private static async Task<StatementPage> PageAsync(
        RequestHandler handler, StatementPageRequest wanted, IncomingCall call, Admission.Admitted place) =>
        (await handler.SendAsync(RequestKinds.Statement, wanted, call, place)).Value;

    private static ListStatementResponse Answer(
        ListStatementRequest request, StatementPageRequest wanted, StatementPage page) => new()
        {
            Entries = { page.Entries },
            NextPageToken = page.HasMore ? PageToken.Of(request, ReadTo(wanted, page)) : "",
        };

    private static long ReadTo(StatementPageRequest wanted, StatementPage page) =>
        wanted.IsSelective() ? page.ReadTo : page.Entries[^1].Version;
}
