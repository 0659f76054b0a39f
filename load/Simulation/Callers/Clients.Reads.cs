using Billing.Simulation.Books;
using Billing.Simulation.Doors;
using Billing.Simulation.Schedules;
using Billing.V1;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;

namespace Billing.Simulation.Callers;

/// <content>What clients read: balances, balances of the past, statements whole and in pages, and
/// payments by their ids.</content>
internal sealed partial class Clients
{
    // Longer than its retries and the waits of proxies for each page.
    private static readonly TimeSpan SdkStreamMax = TimeSpan.FromMinutes(5);

    private async Task CheckAsync(Operation operation)
    {
        var stream = Stream(operation.Account);
        var request = new CheckBalanceRequest
        {
            AccountId = NameOf(operation.Account),
            PaymentType = TypeOf(operation.Account),
            MinVersion = operation.Seed % 3 == 0 ? 0 : _known.GetValueOrDefault(stream),
        };
        model.Checked(stream, request.MinVersion, (await CallAsync(operation, 0, Asks.Balance, request))!);
    }

    private Task MayLookUpAsync(Operation operation, IMessage request) =>
        ReferenceModel.IdOf(request).TransactionId.ToByteArray()[15] % 5 == 0
            ? LookUpAsync(operation, request)
            : Task.CompletedTask;

    // Looks up what was answered, or refused for good.
    private async Task LookUpAsync(Operation operation, IMessage request)
    {
        var (id, account) = (ReferenceModel.IdOf(request), ReferenceModel.AccountOf(request));
        var question = new GetTransactionRequest
        {
            TransactionId = id.TransactionId.ToString(),
            AccountId = account.Id,
            PaymentType = account.Type,
        };
        var found = await CallAsync(
            operation, 80, Asks.Lookup, question, refusal => refusal.Status == StatusCode.NotFound);
        model.LookedUp(id, Contents.Of(request), found);
        if (found is not null)
        {
            await AsOfAsync(operation, found.Entry.DecideTime);
        }
    }

    // Reads a statement, and from it the balance at some version and at the time of some event, as the
    // statement has it.
    private async Task ReadPastAsync(Operation operation)
    {
        var dice = new Dice(operation.Seed + 113);
        var after = dice.Next(
            _known.GetValueOrDefault(Stream(operation.Account)) is > 0 and var known ? (int)known + 1 : 1);
        var entries =
            dice.Next(3) == 0 ? await StreamedAsync(operation, dice, after) : await ListedAsync(operation, dice, after);
        var version = dice.Next((int)_known.GetValueOrDefault(Stream(operation.Account)) + 3);
        await AsOfAsync(operation, version);
        if (entries.Count > 0)
        {
            await AsOfAsync(operation, dice.Pick(entries).DecideTime);
        }
    }

    private async Task AsOfAsync(Operation operation, long version)
    {
        var (stream, since) = (Stream(operation.Account), model.VersionOf(Stream(operation.Account)));
        var request = new GetBalanceAtRequest
        {
            AccountId = NameOf(operation.Account),
            PaymentType = TypeOf(operation.Account),
            Version = version,
        };
        var past = await CallAsync(
            operation, 60, Asks.BalanceAt, request, refusal => refusal.Status == StatusCode.OutOfRange);
        if (past is null)
        {
            ReferenceModel.NotReached(version, since);
        }
        else
        {
            model.WasAt(stream, version, null, since, past);
        }
    }

    private async Task AsOfAsync(Operation operation, Timestamp time)
    {
        var (stream, since) = (Stream(operation.Account), model.VersionOf(Stream(operation.Account)));
        var request = new GetBalanceAtRequest
        {
            AccountId = NameOf(operation.Account),
            PaymentType = TypeOf(operation.Account),
            Time = time,
        };
        model.WasAt(stream, null, time, since, (await CallAsync(operation, 61, Asks.BalanceAt, request))!);
    }

    // As a stream of gRPC.
    private async Task<List<StatementEntry>> StreamedAsync(Operation operation, Dice dice, long after)
    {
        var since = model.VersionOf(Stream(operation.Account));
        var (request, selects) = StatementOf(operation, dice, after);
        // Each page takes a while.
        request.PageSize = Math.Max(request.PageSize, 100);
        var bySdk = dice.Chance(0.5);
        var entries = (await RetryAsync(operation, 62, (_, proxy, deadline) => TryAsync(
            operation, proxy, deadline, null,
            () => bySdk ? Sdk.StreamAsync(request) : proxy.StreamAsync(request, deadline), null,
            bySdk ? SdkStreamMax : TimeSpan.Zero)))!;
        model.Stated(Stream(operation.Account), request.AfterVersion, since, isWhole: true, entries, selects);
        return entries;
    }

    // Page after page, with a token.
    private async Task<List<StatementEntry>> ListedAsync(Operation operation, Dice dice, long after)
    {
        var since = model.VersionOf(Stream(operation.Account));
        var (request, selects) = StatementOf(operation, dice, after);
        var entries = new List<StatementEntry>();
        var isWhole = false;
        for (var pages = 0; !isWhole && pages < 4; pages++)
        {
            var page = (await CallAsync(operation, 70 + pages, Asks.Statement, request))!;
            ReferenceModel.Require(
                page.Entries.Count <= request.PageSize,
                $"a page of {request.PageSize} entries has {page.Entries.Count}");
            entries.AddRange(page.Entries);
            request.PageToken = page.NextPageToken;
            isWhole = page.NextPageToken.Length == 0;
        }
        model.Stated(Stream(operation.Account), request.AfterVersion, since, isWhole, entries, selects);
        return entries;
    }

    // A request for a statement: of all events or those after a version, of some types or of a range of time.
    // And what it selects.
    private (ListStatementRequest Request, Func<StatementEntry, bool>? Selects) StatementOf(
        Operation operation, Dice dice, long after)
    {
        var request = new ListStatementRequest
        {
            AccountId = NameOf(operation.Account),
            PaymentType = TypeOf(operation.Account),
            PageSize = dice.Pick([1, 4, 20, 100]),
            AfterVersion = dice.Chance(0.5) ? after : 0,
        };
        if (dice.Chance(0.4))
        {
            request.Types_.Add([StatementEntryType.PaymentAccepted, StatementEntryType.PaymentRefunded]);
        }
        if (dice.Chance(0.3))
        {
            request.StartTime = new DateTimeOffset(
                Node.TimeOf(dice.Next((int)Math.Max(1, scheduler.Now / 10_000)) * 10_000L).UtcTicks / 10 * 10,
                TimeSpan.Zero).ToTimestamp();
        }
        return (request, request is { Types_.Count: 0, StartTime: null } ? null : entry =>
            (request.Types_.Count == 0 || request.Types_.Contains(entry.Type))
            && (request.StartTime is not { } from || entry.DecideTime >= from));
    }
}
