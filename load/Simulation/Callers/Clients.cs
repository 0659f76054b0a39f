using System.Globalization;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Simulation.Books;
using Billing.Simulation.Doors;
using Billing.Simulation.Schedules;
using Billing.Simulation.Services;
using Billing.V1;

namespace Billing.Simulation.Callers;

/// <summary>The clients of a run: each retries its request, with the same transaction id, at one proxy after the other
/// until it has an answer. The reference model checks every answer as it arrives.</summary>
internal sealed partial class Clients(
    Node node, Scheduler scheduler, ReferenceModel model, Func<IReadOnlyList<ProxyNode>> proxies, Trace trace)
{
    // Calls may end this much after their deadline: PendingReplies checks for overdue calls twenty times per second.
    private static readonly TimeSpan Late = TimeSpan.FromMilliseconds(60);

    private const int DeadlineMaxMs = 5000;

    /// <summary>What a call may end before its deadline because the wire format has deadlines in whole
    /// microseconds.</summary>
    public static readonly TimeSpan Rounding = TimeSpan.FromMicroseconds(1);

    private readonly Dictionary<string, long> _known = new(StringComparer.Ordinal);
    private readonly List<Operation> _open = [];
    private int _turn;

    /// <summary>The SDK that some of them use.</summary>
    public required SdkDoor Sdk { get; init; }

    /// <summary>By how much calls may end before their deadline.</summary>
    public TimeSpan Early { get; init; } = Rounding;

    /// <summary>Number of operations that are not done.</summary>
    public int Open => _open.Count;

    /// <summary>The operations that are not done and whose callers wait for the write side.</summary>
    public IEnumerable<Operation> OpenWrites => _open
        .Where(o => o.Kind is not (OperationKind.CheckBalance or OperationKind.ReadPast or OperationKind.PayAndLeave));

    /// <summary>Until when proxies were last frozen: calls to a frozen proxy take longer.</summary>
    public long FrozenUntil { get; set; }

    /// <summary>Whether any request was retried.</summary>
    public bool HasAskedAgain
    {
        get => field || Sdk.HasRetried;
        private set;
    }

    /// <summary>Schedules an operation.</summary>
    public void Add(Operation operation)
    {
        _open.Add(operation);
        scheduler.After(
            TimeSpan.FromMilliseconds(operation.AtMs), node,
            () => node.Supervisor.Watch("client", RunAsync(operation)));
    }

    /// <summary>Whether an operation is not done that does not need a certain account.
    /// What nobody waits for may take until its deadline.</summary>
    public bool IsOpen(string except) =>
        _open.Exists(
            o => o.Kind != OperationKind.PayAndLeave && !StreamsOf(o).Contains(except, StringComparer.Ordinal));

    /// <summary>The streams of the accounts that an operation needs.</summary>
    public static IReadOnlyList<string> StreamsOf(Operation operation) => operation.Kind == OperationKind.PayTwoAccounts
        ? [Stream(operation.Account), Stream(operation.Account + 1)]
        : [Stream(operation.Account)];

    /// <summary>The streams of all accounts that any schedule uses.</summary>
    public static IReadOnlyList<string> Streams { get; } =
    [
        .. Enumerable.Range(0, Schedule.EmptiedAccount + 1).Select(Stream),
    ];

    /// <summary>The stream of an account.</summary>
    public static string Stream(int account) => StreamId.For(TypeOf(account), NameOf(account));

    private async Task RunAsync(Operation operation)
    {
        await (operation.Kind switch
        {
            OperationKind.Pay => PayAsync(operation, operation.Account, 0),
            OperationKind.PayTwice =>
                Task.WhenAll(PayAsync(operation, operation.Account, 0), PayAsync(operation, operation.Account, 1)),
            OperationKind.PayTwoAccounts => Task.WhenAll(
                PayAsync(operation, operation.Account, 0), PayAsync(operation, operation.Account + 1, 1)),
            OperationKind.PayAndLeave => PayAndLeaveAsync(operation),
            OperationKind.PayInTurn => PayInTurnAsync(operation),
            OperationKind.SetLimit => SetLimitAsync(operation),
            OperationKind.PayDiffering => PayDifferingAsync(operation),
            OperationKind.PayMany => PayManyAsync(operation),
            OperationKind.ReadPast => ReadPastAsync(operation),
            OperationKind.EmptyAndClose => EmptyAndCloseAsync(operation),
            _ => CheckAsync(operation),
        });
        _open.Remove(operation);
    }

    private async Task PayAsync(Operation operation, int account, int copy)
    {
        var request = PaymentOf(operation, account);
        var id = new CommandId(operation.TransactionId, Stream(account));
        // A payment that nobody waited for under this id may have ended the id.
        if (await CallAsync(operation, copy, Asks.Payment, request) is not { } answer)
        {
            return;
        }
        model.Paid(id, Contents.Of(request), answer);
        Know(Stream(account), answer.Version);
        if (operation.Seed % 4 == 0 && copy == 0)
        {
            await RefundAsync(operation, request);
        }
        await MayLookUpAsync(operation, request);
        if (operation.Seed % 3 == 0 && copy == 0)
        {
            await HoldAsync(operation, request);
        }
        if (operation.Seed % 7 == 0 && copy == 0)
        {
            await FreezeAsync(operation, request);
        }
    }

    private static MakePaymentRequest PaymentOf(Operation operation, int account) => new()
    {
        TransactionId = operation.TransactionId.ToString(),
        AccountId = NameOf(account),
        PaymentType = TypeOf(account),
        Amount = (operation.Cents / 100m).ToMoney(operation.Currency),
        Notes = NotesOf(operation.TransactionId.ToString()),
    };

    private async Task SetLimitAsync(Operation operation)
    {
        var request = new SetCreditLimitRequest
        {
            TransactionId = operation.TransactionId.ToString(),
            AccountId = NameOf(operation.Account),
            PaymentType = TypeOf(operation.Account),
            Limit = (operation.Cents / 20m).ToMoney(operation.Currency),
        };
        var stream = Stream(operation.Account);
        var answer = await CallAsync(
            operation, 0, Asks.CreditLimit, request, refusal => IsLimitRefused(refusal, stream, operation.Currency));
        if (answer is not null)
        {
            model.Limited(new CommandId(operation.TransactionId, stream), Contents.Of(request), answer);
            Know(stream, answer.Version);
            await MayLookUpAsync(operation, request);
        }
    }

    // What clients keep with a request: with half of them something.
    private static PaymentNotes? NotesOf(string transactionId) =>
        transactionId[0] % 2 == 0 ? new PaymentNotes { Reference = transactionId[..8] } : null;

    private void Know(string stream, long version) =>
        _known[stream] = Math.Max(version, _known.GetValueOrDefault(stream));

    private static PaymentType TypeOf(int account) => account % 2 == 0 ? PaymentType.Visa : PaymentType.Amex;

    private static string NameOf(int account) => "acct-" + account.ToString(CultureInfo.InvariantCulture);
}
