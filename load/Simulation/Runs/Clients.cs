using System.Globalization;
using Billing.Backends.EventStore;
using Billing.Contracts;
using Billing.Messaging.Requests;
using Billing.Proxy.Failures;
using Billing.Simulation.Services;
using Billing.V1;
using Billing.Wire.V1;
using Google.Protobuf;
using Grpc.Core;

namespace Billing.Simulation.Runs;

/// <summary>The clients of a run: each retries its request, with the same transaction id, at one proxy after the other until it
/// has an answer. The reference model checks every answer as it arrives.</summary>
internal sealed partial class Clients(Node node, Scheduler scheduler, ReferenceModel model, Func<IReadOnlyList<ProxyNode>> proxies, Trace trace)
{
    // Calls may end this much after their deadline: PendingReplies checks for overdue calls twenty times per second.
    private static readonly TimeSpan Late = TimeSpan.FromMilliseconds(60);

    private const int DeadlineMaxMs = 5000;

    /// <summary>What a call may end before its deadline because the wire format has deadlines in whole microseconds.</summary>
    public static readonly TimeSpan Rounding = TimeSpan.FromMicroseconds(1);

    private readonly Dictionary<string, long> _known = new(StringComparer.Ordinal);
    private readonly List<Operation> _open = [];
    private int _turn;

    /// <summary>By how much calls may end before their deadline.</summary>
    public TimeSpan Early { get; init; } = Rounding;

    /// <summary>Number of operations that are not done.</summary>
    public int Open => _open.Count;

    /// <summary>The payments that were made in turn: their account and their transaction ids in the order of their requests.</summary>
    public List<(string StreamId, List<string> TransactionIds)> InTurn { get; } = [];

    /// <summary>Until when proxies were last frozen: calls to a frozen proxy take longer.</summary>
    public long FrozenUntil { get; set; }

    /// <summary>Whether any request was retried.</summary>
    public bool HasAskedAgain { get; private set; }

    /// <summary>Schedules an operation.</summary>
    public void Add(Operation operation)
    {
        _open.Add(operation);
        scheduler.After(TimeSpan.FromMilliseconds(operation.AtMs), node, () => node.Supervisor.Watch("client", RunAsync(operation)));
    }

    /// <summary>Whether an operation is not done that does not need a certain account.</summary>
    public bool IsOpen(string except) => _open.Exists(o => Stream(o.Account) != except
        && !(o.Kind == OperationKind.PayTwoAccounts && Stream(o.Account + 1) == except));

    /// <summary>The streams of all accounts that any schedule uses.</summary>
    public static IReadOnlyList<string> Streams { get; } = [.. Enumerable.Range(0, Schedule.AccountsMax + 1).Select(Stream)];

    /// <summary>The stream of an account.</summary>
    public static string Stream(int account) => StreamId.For(TypeOf(account), NameOf(account));

    private async Task RunAsync(Operation operation)
    {
        await (operation.Kind switch
        {
            OperationKind.Pay => PayAsync(operation, operation.Account, 0),
            OperationKind.PayTwice => Task.WhenAll(PayAsync(operation, operation.Account, 0), PayAsync(operation, operation.Account, 1)),
            OperationKind.PayTwoAccounts => Task.WhenAll(
                PayAsync(operation, operation.Account, 0), PayAsync(operation, operation.Account + 1, 1)),
            OperationKind.PayAndLeave => PayAndLeaveAsync(operation),
            OperationKind.PayInTurn => PayInTurnAsync(operation),
            OperationKind.SetLimit => SetLimitAsync(operation),
            _ => CheckAsync(operation),
        });
        _open.Remove(operation);
    }

    private Task PayInTurnAsync(Operation operation)
    {
        var dice = new Dice(operation.Seed);
        var payments = Enumerable.Range(0, 3).Select(_ => operation with { TransactionId = dice.Id(), Seed = dice.Seed() }).ToList();
        InTurn.Add((Stream(operation.Account), payments.ConvertAll(p => p.TransactionId.ToString())));
        var turn = _turn++;
        return Task.WhenAll(payments.Select(payment =>
        {
            _turn = turn;
            return PayAsync(payment, payment.Account, 0);
        }).ToList());
    }

    private async Task PayAsync(Operation operation, int account, int copy)
    {
        var request = PaymentOf(operation, account);
        var id = new CommandId(operation.TransactionId, Stream(account));
        model.Asked(id, request.Amount);
        var answer = (await CallAsync(operation, copy, RequestKinds.Payment, request, _ => false))!;
        model.Paid(id, answer);
        Know(Stream(account), answer.Version);
        if (operation.Seed % 4 == 0 && copy == 0)
        {
            await RefundAsync(operation, request);
        }
        if (operation.Seed % 5 == 0 && copy == 0)
        {
            await LookUpAsync(operation, request);
        }
        if (operation.Seed % 3 == 0 && copy == 0)
        {
            await HoldAsync(operation, request);
        }
        if (operation.Seed % 7 == 0 && copy == 0)
        {
            await FreezeAsync(operation, request);
        }
    }

    private async Task LookUpAsync(Operation operation, MakePaymentRequest payment)
    {
        var request = new GetPaymentRequest { TransactionId = payment.TransactionId, AccountId = payment.AccountId, PaymentType = payment.PaymentType };
        var found = await CallAsync(operation, 4, RequestKinds.Lookup, request, refusal => refusal.Status == StatusCode.NotFound);
        model.LookedUp(new CommandId(operation.TransactionId, StreamId.For(payment.PaymentType, payment.AccountId)), payment.Amount, found);
    }

    private async Task PayAndLeaveAsync(Operation operation)
    {
        var request = PaymentOf(operation, operation.Account);
        var id = new CommandId(operation.TransactionId, Stream(operation.Account));
        model.Asked(id, request.Amount);
        var deadline = TimeSpan.FromMilliseconds(operation.DeadlineMs);
        if (await TakeAsync(request, deadline) is not { } taken)
        {
            await PayAsync(operation, operation.Account, 0);
            return;
        }
        // Some send it once more without waiting, some ask twice at the same time, some make it as well and wait for the answer.
        var shape = operation.Seed % 4;
        if (shape == 1)
        {
            await TakeAsync(request, deadline);
        }
        var question = new PaymentStatusRequest
        {
            TransactionId = request.TransactionId,
            AccountId = request.AccountId,
            PaymentType = request.PaymentType,
            Fingerprint = ByteString.CopyFrom(PaymentFingerprint.Of(request.Amount, request.Notes)),
        };
        var calls = new List<Task<PaymentStatus?>> { AskAsync(operation, 0, question, taken) };
        if (shape == 2)
        {
            calls.Add(AskAsync(operation, 1, question, taken));
        }
        var made = shape == 3 ? CallAsync(operation, 2, RequestKinds.Payment, request, IsTaken) : null;
        foreach (var status in await Task.WhenAll(calls))
        {
            if (status is not null)
            {
                await CheckStatusAsync(operation, request, status);
            }
        }
        if (made is not null && await made is { } late)
        {
            model.Paid(id, late);
        }
    }

    private static bool IsTaken(Failure refusal) => refusal.Status == StatusCode.AlreadyExists;

    private async Task CheckStatusAsync(Operation operation, MakePaymentRequest request, PaymentStatus status)
    {
        var id = new CommandId(operation.TransactionId, Stream(operation.Account));
        if (status.Payment is { } answer)
        {
            model.Paid(id, answer);
            Know(id.StreamId, answer.Version);
        }
        else
        {
            model.Failed(id, status.Error);
            var again = await CallAsync(operation, 3, RequestKinds.Payment, request, IsTaken);
            ReferenceModel.Require(again is null, "a payment that was called failed was sent again and answered");
            await LookUpAsync(operation, request);
        }
    }

    private Task<PaymentStatus?> AskAsync(Operation operation, int copy, PaymentStatusRequest question, int partition) => CallAsync(
        operation, copy, question, (proxy, deadline) => proxy.AskAsync(question, partition, deadline), refusal => refusal.Status == StatusCode.NotFound);

    private async Task<int?> TakeAsync(MakePaymentRequest payment, TimeSpan deadline)
    {
        try
        {
            return await proxies()[_turn++ % proxies().Count].TakeAsync(payment, deadline);
        }
        catch (FailureException e)
        {
            trace.Write("client", "not taken: " + e.Failure.Status, Guid.Parse(payment.TransactionId));
            HasAskedAgain = true;
            return null;
        }
    }

    private static MakePaymentRequest PaymentOf(Operation operation, int account) => new()
    {
        TransactionId = operation.TransactionId.ToString(),
        AccountId = NameOf(account),
        PaymentType = TypeOf(account),
        Amount = (operation.Cents / 100m).ToMoney(operation.Currency),
        Notes = ReferenceModel.NotesOf(operation.TransactionId.ToString()),
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
        model.Asked(new CommandId(operation.TransactionId, stream), request.Limit);
        var answer = await CallAsync(
            operation, 0, RequestKinds.CreditLimit, request,
            refusal =>
            {
                if (refusal.Status == StatusCode.FailedPrecondition)
                {
                    model.LimitRefused(stream, operation.Currency);
                    return true;
                }
                return false;
            });
        if (answer is not null)
        {
            model.Limited(new CommandId(operation.TransactionId, stream), answer);
            Know(stream, answer.Version);
        }
    }

    private async Task CheckAsync(Operation operation)
    {
        var stream = Stream(operation.Account);
        var request = new CheckBalanceRequest
        {
            AccountId = NameOf(operation.Account),
            PaymentType = TypeOf(operation.Account),
            MinVersion = operation.Seed % 3 == 0 ? 0 : _known.GetValueOrDefault(stream),
        };
        model.Checked(stream, request.MinVersion, (await CallAsync(operation, 0, RequestKinds.Balance, request, _ => false))!);
    }

    /// <summary>Retries until there is an answer.</summary>
    /// <returns>The answer; null if the request was refused for good.</returns>
    private Task<TAnswer?> CallAsync<TRequest, TAnswer>(
        Operation operation, int copy, RequestKind<TRequest, TAnswer> kind, TRequest request, Func<Failure, bool> isFinal)
        where TRequest : class, IMessage<TRequest>
        where TAnswer : class =>
        CallAsync(operation, copy, request, (proxy, deadline) => proxy.CallAsync(kind, request, deadline), isFinal);

    private async Task<TAnswer?> CallAsync<TAnswer>(
        Operation operation, int copy, IMessage request, Func<ProxyNode, TimeSpan, Task<TAnswer>> call, Func<Failure, bool> isFinal)
        where TAnswer : class
    {
        var dice = new Dice(operation.Seed + copy);
        for (var tries = 0; ; tries++)
        {
            var proxy = proxies()[_turn++ % proxies().Count];
            var began = scheduler.Now;
            // The card network alone may take a second.
            var deadline = TimeSpan.FromMilliseconds(Math.Min(operation.DeadlineMs << Math.Min(tries, 10), DeadlineMaxMs));
            try
            {
                var answer = await call(proxy, deadline);
                CheckWait(began, deadline);
                trace.Write(proxy.Node.Name, "answered", operation.TransactionId);
                return answer;
            }
            catch (FailureException e)
            {
                CheckWait(began, deadline);
                var failure = e.Failure;
                trace.Write(proxy.Node.Name, failure.Status.ToString(), operation.TransactionId);
                if (isFinal(failure))
                {
                    return null;
                }
                HasAskedAgain = true;
                // A question is answered so at once as long as it cannot be decided.
                var isQuestion = request is PaymentStatusRequest;
                ReferenceModel.Require(
                    failure.Status != StatusCode.DeadlineExceeded || isQuestion || scheduler.Now - began >= (deadline - Early).Ticks,
                    $"{operation} was told {failure} {TimeSpan.FromTicks(scheduler.Now - began)} after it asked");
                ReferenceModel.Require(
                    failure.Status is StatusCode.Unavailable or StatusCode.DeadlineExceeded or StatusCode.ResourceExhausted,
                    $"{operation} ended with {failure}");
            }
            await Task.Delay(dice.Between(TimeSpan.FromMilliseconds(20), TimeSpan.FromMilliseconds(400)), node.Time);
        }
    }

    private void CheckWait(long began, TimeSpan deadline)
    {
        var waited = TimeSpan.FromTicks(scheduler.Now - Math.Max(began, FrozenUntil));
        ReferenceModel.Require(waited <= deadline + Late, $"a call with a deadline of {deadline} took {waited}");
    }

    private void Know(string stream, long version) => _known[stream] = Math.Max(version, _known.GetValueOrDefault(stream));

    private static PaymentType TypeOf(int account) => account % 2 == 0 ? PaymentType.Visa : PaymentType.Amex;

    private static string NameOf(int account) => "acct-" + account.ToString(CultureInfo.InvariantCulture);
}
