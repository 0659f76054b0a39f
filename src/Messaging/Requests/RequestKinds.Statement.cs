using System.Globalization;
using Billing.Contracts;
using Billing.V1;
using Billing.Wire.V1;

namespace Billing.Messaging.Requests;

public static partial class RequestKinds
{
    /// <summary>The most entries that one page of a statement may have.</summary>
    public const int StatementEntriesMax = 1000;

    /// <summary>The most bytes that the entries of one page may have, unless it has only one.</summary>
    public const int StatementBytesMax = 64 * 1024;

    // Of the field in the message that holds an entry: its tag and its length.
    private const int EntryPrefixBytes = 3;

    /// <summary>A page of a statement.</summary>
    public static RequestKind<StatementPageRequest, StatementPage> Statement { get; } = new()
    {
        Field = Command.RequestOneofCase.Statement,
        Scope = Scopes.AccountsRead,
        CallersRequest = ListStatementRequest.Descriptor,
        Check = CheckPage,
        KnownFields = request => request.Clone(),
        AccountOf = request => (request.PaymentType, request.AccountId),
        RequestIn = command => command.Statement,
        WriteTo = (command, request) => command.Statement = request,
        AnswerIn = reply => reply.Statement,
        RepeatedIds = [],
        ProblemOf = ProblemOfPage,
    };

    /// <summary>Adds an entry to a page.</summary>
    /// <param name="page">The page.</param>
    /// <param name="request">What the page is for.</param>
    /// <param name="entry">The entry.</param>
    /// <param name="bytes">The bytes of the page's entries.</param>
    /// <returns>Whether there was room for it, by number and by bytes.</returns>
    public static bool TryAdd(
        this StatementPage page, StatementPageRequest request, StatementEntry entry, ref int bytes)
    {
        var size = entry.CalculateSize() + EntryPrefixBytes;
        if (page.Entries.Count == request.Limit || (page.Entries.Count > 0 && bytes + size > StatementBytesMax))
        {
            return false;
        }
        page.Entries.Add(entry);
        bytes += size;
        return true;
    }

    /// <summary>Whether a request is for only some of an account's events.</summary>
    public static bool IsSelective(this StatementPageRequest request) =>
        request.StartTime is not null || request.EndTime is not null || request.Types_.Count > 0;

    /// <summary>Whether a request is for an event.</summary>
    public static bool Selects(this StatementPageRequest request, StatementEntry entry) =>
        (request.StartTime is not { } from || (entry.DecideTime is { } at && at >= from))
        && (request.EndTime is not { } before || (entry.DecideTime is { } decided && decided < before))
        && (request.Types_.Count == 0 || request.Types_.Contains(entry.Type));

    // A page that is not the last and does not get on would make the proxy request the same page forever.
    private static string? ProblemOfPage(StatementPageRequest request, StatementPage page) =>
        page.Entries.Count > request.Limit
        || (page.HasMore && (request.IsSelective() ? page.ReadTo <= request.AfterVersion : page.Entries.Count == 0))
            ? $"an invalid page of a statement: {page.Entries.Count} entries for a limit of {request.Limit}"
        : page.Entries.Count > 1
            && page.Entries.Sum(entry => entry.CalculateSize() + EntryPrefixBytes) > StatementBytesMax
            ? $"a page of a statement with more than {StatementBytesMax} bytes"
        : page.Entries.Any(
            entry => !request.Selects(entry)) ? "a page of a statement with entries that were not asked for"
        : null;

    private static FieldViolation? CheckPage(StatementPageRequest request) =>
        FieldRules.Check(new ListStatementRequest
        {
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            StartTime = request.StartTime,
            EndTime = request.EndTime,
            Types_ = { request.Types_ },
            AfterVersion = request.AfterVersion,
        })
        ?? (request.Limit is < 1 or > StatementEntriesMax
            ? new FieldViolation("limit", string.Create(
                CultureInfo.InvariantCulture, $"must be between 1 and {StatementEntriesMax}; it is {request.Limit}"))
            : null)
        ?? (request.Opening is { } opening
            && (opening.Version != request.AfterVersion || opening.Balance is null || opening.CreditLimit is null)
            ? new FieldViolation("opening", "must be the account as of after_version")
            : null);
}
